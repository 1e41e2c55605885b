/// Dropout on a row of eight equal weights, as "Attention, slowly" begins with it: what is left of them in
/// training, in evaluation and in the gradient, and what of many such rows. Status 1 if something is not as
/// it must be.
///   build/experiments/dropout [ROWS]     ROWS: for the averages, 100,000 where it is not given
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <string>

#include "room.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/random.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/dropout.h"

namespace {

using namespace tapehead;
using namespace tapehead::room;

constexpr Index kWeights = 8;
constexpr double kWeight = 0.125;
constexpr double kProbability = 0.5;
constexpr std::uint64_t kSeed = 123;

Tensor row_of(double weight) {
  Tensor row(Shape{kWeights});
  for (Index i = 0; i < kWeights; ++i) row(i) = static_cast<Real>(weight);
  return row;
}

std::string in_words(const Tensor& row) {
  std::string words;
  for (Index i = 0; i < kWeights; ++i) words += fmt::format(" {:.3f}", row(i));
  return words;
}

/// Whether every number is one of the two, exactly.
bool has_only(const Tensor& row, Real a, Real b) {
  for (Index i = 0; i < kWeights; ++i)
    if (row(i) != a && row(i) != b) return false;
  return true;
}

/// The example, and that its gradient goes where the numbers went.
void print_example() {
  const Dropout dropout(kProbability);
  Tape tape;
  Pass training(tape, Generator(kSeed, Purpose::dropout));
  const Variable x = tape.variable(row_of(kWeight));
  const Variable y = dropout(training, x);
  const Tensor dropped = y.value();
  tape.backward(sum(y));
  const Tensor gradient = x.gradient();
  Pass evaluation;
  const Tensor plain = dropout(evaluation, Variable(row_of(kWeight))).value();
  bool goes_along = true;
  for (Index i = 0; i < kWeights; ++i) goes_along = goes_along && gradient(i) == 8 * dropped(i);
  fmt::print("eight weights of {}, p = {} (seed {})\n", kWeight, kProbability, kSeed);
  fmt::print("in training      {}{}\n", in_words(dropped), judged(has_only(dropped, Real(0.25), 0)));
  fmt::print("in evaluation    {}{}\n", in_words(plain), judged(has_only(plain, Real(0.125), Real(0.125))));
  fmt::print("gradient of sum  {}{}\n", in_words(gradient), judged(goes_along && has_only(gradient, 2, 0)));
}

/// Of many rows: how often a weight is dropped, and how the sum of a row is spread. That is 8 weights of
/// 0.25 or 0 each: mean 1, variance 8 · 0.125².
void print_averages(Index rows) {
  const Dropout dropout(kProbability);
  Tape tape;
  double zeros = 0;
  double total = 0;
  double squares = 0;
  for (Index row = 0; row < rows; ++row) {
    Pass training(tape, Generator(kSeed, Purpose::dropout, row));
    const Tensor y = dropout(training, Variable(row_of(kWeight))).value();
    double of_row = 0;
    for (Index i = 0; i < kWeights; ++i) {
      zeros += y(i) == 0 ? 1 : 0;
      of_row += static_cast<double>(y(i));
    }
    total += of_row;
    squares += of_row * of_row;
  }
  const double count = static_cast<double>(rows);
  const double share = zeros / (count * kWeights);
  const double mean = total / count;
  const double spread = std::sqrt(squares / count - mean * mean);
  const double expected = std::sqrt(kWeights * kWeight * kWeight);
  // Five standard errors; that of a spread is about spread / √(2 rows).
  const double error = 5 / std::sqrt(count);
  fmt::print("\nof {} rows\n", rows);
  fmt::print("share of zeros    {:.4f}{}\n", share,
             judged(std::abs(share - kProbability) < error * 0.5 / std::sqrt(1.0 * kWeights)));
  fmt::print("a row's sum       {:.4f} in the mean{}\n", mean, judged(std::abs(mean - 1) < error * expected));
  fmt::print("                  {:.4f} its standard deviation ({:.4f} expected){}\n", spread, expected,
             judged(std::abs(spread - expected) < error * expected / std::sqrt(2.0)));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Index rows = 100000;
    if (argc > 2) throw UsageError("usage: dropout [ROWS]");
    if (argc == 2) rows = std::stol(argv[1]);
    require(rows >= 1 && rows <= 100'000'000, "[dropout] expected 1 to 100,000,000 rows, got {}", rows);
    print_example();
    print_averages(rows);
    return failed ? 1 : 0;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 2;
  }
}
