#include "tapehead/report/notes.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "report/drawing.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

// 100 steps on 500 pixels, values up to 10 on 200.
constexpr Panel kPanel{50, 550, 20, 220};
const std::string kWords = "ten signs.";  // about 67 pixels

struct Place {
  double x;  // of the words' left end, in pixels from the panel's left edge
  double y;  // of their middle, from its lower edge
};

Place write(NoteRoom& room, double step, double value, std::span<const Spot> spots) {
  Figure figure;
  room.write(figure, 7, kWords, step, value, spots, kInk);
  Place place{};
  REQUIRE(std::sscanf(figure.script.text().c_str(), "set label 7 'ten signs.' at graph %lf, graph %lf left",
                      &place.x, &place.y) == 2);
  return {500 * place.x, 200 * place.y};
}

constexpr std::array kAboveThenBelow = {Spot{0, 15, 0}, Spot{0, -15, 0}};

}  // namespace

TEST_CASE("words stand where they are wanted, to the right of there, around it or before it") {
  const auto place = [](const Spot& spot) {
    NoteRoom room(kPanel, 100, 10);
    return write(room, 50, 5, std::array{spot});
  };
  CHECK(place({10, 15, 0}).x == doctest::Approx(260));
  CHECK(place({10, 15, 0}).y == doctest::Approx(115));
  CHECK(place({0, 0, 0.5}).x == doctest::Approx(250 - 33.5));
  CHECK(place({-10, 0, 1}).x == doctest::Approx(240 - 67));
}

TEST_CASE("words do not leave the panel to the left, to the right or below") {
  NoteRoom room(kPanel, 100, 10);
  CHECK(write(room, 1, 5, std::array{Spot{0, 0, 0.5}}).x == doctest::Approx(4));
  CHECK(write(room, 99, 5, std::array{Spot{0, 0, 0}}).x == doctest::Approx(500 - 4 - 67));
  CHECK(write(room, 50, 0, std::array{Spot{0, -5, 0}}).y == doctest::Approx(8));
  NoteRoom one_step(kPanel, 0, 10);
  CHECK(write(one_step, 0, 5, std::array{Spot{0, 0, 0.5}}).x == doctest::Approx(4));
}

TEST_CASE("words keep out of the way of curves, and of words written before") {
  NoteRoom room(kPanel, 100, 10);
  CHECK(write(room, 20, 5, kAboveThenBelow).y == doctest::Approx(115));
  CHECK(write(room, 20, 5, kAboveThenBelow).y == doctest::Approx(85));
  // A spike right of the point, between two evaluations, one of them beside a missing value.
  room.add_curve({50, 51, 55, 56, 100}, {5, 5, NAN, 9, 9});
  CHECK(write(room, 50, 5, kAboveThenBelow).y == doctest::Approx(85));
  CHECK(write(room, 80, 5, kAboveThenBelow).y == doctest::Approx(115));
  CHECK(write(room, 80, 8.5, kAboveThenBelow).y == doctest::Approx(155));
}

TEST_CASE("where no spot is free the first is taken") {
  NoteRoom room(kPanel, 100, 10);
  room.add_curve({60, 60.5}, {0, 10});
  CHECK(write(room, 50, 5, kAboveThenBelow).y == doctest::Approx(115));
}
