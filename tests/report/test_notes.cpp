#include "tapehead/report/notes.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/report/lettering.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

// 100 steps on 500 pixels, values up to 10 on 200.
constexpr Panel kPanel{50, 550, 20, 220};
const std::string kWords = "ten signs.";
const double kWidth = text_width(kWords, kText);

struct Place {
  double x;  // of the words' left end, in pixels from the panel's left edge
  double y;  // of their middle, from its lower edge
};

Place write(NoteRoom& room, double step, double value, std::span<const Spot> spots) {
  Figure figure{"notes", 600, 300, {}};
  room.write(figure, kWords, step, value, spots, kInk);
  Place place{};
  REQUIRE(std::sscanf(figure.script.text().c_str(), "set label 'ten signs.' at screen %lf, screen %lf left",
                      &place.x, &place.y) == 2);
  return {600 * place.x - kPanel.left, 300 * place.y - (300 - kPanel.bottom)};
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
  CHECK(place({0, 0, 0.5}).x == doctest::Approx(250 - kWidth / 2));
  CHECK(place({-10, 0, 1}).x == doctest::Approx(240 - kWidth));
}

TEST_CASE("words do not leave the panel to the left, to the right or below") {
  NoteRoom room(kPanel, 100, 10);
  CHECK(write(room, 1, 5, std::array{Spot{0, 0, 0.5}}).x == doctest::Approx(4));
  CHECK(write(room, 99, 5, std::array{Spot{0, 0, 0}}).x == doctest::Approx(500 - 4 - kWidth));
  CHECK(write(room, 50, 0, std::array{Spot{0, -5, 0}}).y == doctest::Approx(8.5));
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

TEST_CASE("where no spot is free words stand as near as they can, if need be upon curves") {
  NoteRoom room(kPanel, 100, 10);
  room.add_curve({60, 60.5}, {0, 10});
  const Place near = write(room, 50, 5, kAboveThenBelow);
  CHECK(near.x + kWidth < 300);
  CHECK(near.x + kWidth > 230);
  CHECK(std::abs(near.y - 100) < 25);
  NoteRoom full(kPanel, 100, 10);
  std::vector<double> steps;
  std::vector<double> values;
  for (int i = 0; i <= 100; ++i) {
    steps.push_back(i);
    values.push_back(i % 2 == 0 ? 0 : 11);
  }
  full.add_curve(steps, values);
  const Place upon_curves = write(full, 50, 5, kAboveThenBelow);
  CHECK(upon_curves.x > 240 - kWidth);
  CHECK(upon_curves.x < 265);
  CHECK(std::abs(upon_curves.y - 100) < 25);
}

TEST_CASE("words that would stand upon other words wherever they are put are left out") {
  NoteRoom room({0, 80, 0, 17}, 1, 1);
  Figure figure{"notes", 600, 300, {}};
  const std::array spots{Spot{0, 0, 0}};
  for (int i = 0; i < 5; ++i) room.write(figure, kWords, 0, 0, spots, kInk);
  CHECK(count(figure.script.text(), "set label") <= 2);
  CHECK(count(figure.script.text(), "set label") > 0);
}

TEST_CASE("a panel is wide enough for words that fit with their margins") {
  const NoteRoom room(kPanel, 100, 10);
  CHECK(room.is_wide_enough(std::string(50, 'i')));
  CHECK_FALSE(room.is_wide_enough(std::string(50, 'm')));
}
