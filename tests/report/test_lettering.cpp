#include "tapehead/report/lettering.h"

#include "support/testing.h"

using namespace tapehead;

using Lines = std::vector<std::string>;

TEST_CASE("words are as wide as the font's advances, and wider in bold") {
  CHECK(text_width("", 13) == 0);
  // H 740, e 582, a 564, d 621 thousandths of Inter; in bold 746, 598, 580, 635.
  CHECK(text_width("Head", 10) == doctest::Approx(25.07));
  CHECK(text_width("Head", 20) == doctest::Approx(50.14));
  CHECK(text_width("Head", 10, true) == doctest::Approx(25.59));
  CHECK(text_width("a·a", 10) == doctest::Approx(2 * 5.64 + 2.76));
  CHECK(text_width("−", 10) == text_width("+", 10));
  CHECK(text_width("\xff", 10) == text_width("é", 10));
}

TEST_CASE("words break at spaces, no line wider than it may be but of a single word") {
  CHECK(wrap("", 100, 10).empty());
  CHECK(wrap("one two", 1000, 10) == Lines{"one two"});
  const double room = text_width("three four", 10) + 0.01;
  CHECK(wrap("one two three four", room, 10) == Lines{"one two", "three four"});
  CHECK(wrap("one two three four", room - 0.02, 10) == Lines{"one two", "three", "four"});
  CHECK(wrap("a immeasurably a", 10, 10) == Lines{"a", "immeasurably", "a"});
}

TEST_CASE("a text too wide is cut, at a whole character, and ends in an ellipsis") {
  CHECK(shortened("one-layer", 1000, 10) == "one-layer");
  CHECK(shortened("one-layer", text_width("one-layer", 10), 10) == "one-layer");
  CHECK(shortened("one-layer", text_width("one…", 10) + 0.01, 10) == "one…");
  CHECK(shortened("one-layer", text_width("one…", 10) - 0.01, 10) == "on…");
  CHECK(shortened("ééé", text_width("é…", 10) + 0.01, 10) == "é…");
  CHECK(shortened("one", 0, 10) == "…");
}
