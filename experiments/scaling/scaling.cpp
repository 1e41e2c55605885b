/// Why scores are divided by the square root of the head's width, in numbers of the two texts: how far dot
/// products spread, how sharp the softmax is by that, and how little of a gradient is left. Status 1 if a
/// number is not what it should be.
///   build/experiments/scaling PAIRS ROWS [FILE]     FILE: largest weight and entropy of every row
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "room.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/tape.h"
#include "tapehead/base/number.h"
#include "tapehead/base/random.h"
#include "tapehead/base/require.h"

namespace {

using namespace tapehead;
using namespace tapehead::room;

constexpr Index kKeys = 16;
constexpr Index kHeadWidth = 128;

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Moments moments;
  for (const double value : values) moments.mean += value / count;
  for (const double value : values) moments.deviation += std::pow(value - moments.mean, 2) / count;
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The standard deviation of q·k over pairs of standard normal vectors. By a fixed stream for each width.
double spread_of(Index width, Index pairs) {
  Generator generator(123, Purpose::evaluation, width);
  std::vector<double> products;
  for (Index i = 0; i < pairs; ++i) {
    double product = 0;
    for (Index d = 0; d < width; ++d) product += generator.normal() * generator.normal();
    products.push_back(product);
  }
  return moments_of(products).deviation;
}

void spreads(Index pairs) {
  std::cout << fmt::format("spread of dot products over {} random pairs\n", pairs)
            << "     d     raw  in the text   scaled   sqrt(d)\n";
  constexpr std::array<std::pair<Index, double>, 4> kText{{{2, 1.41}, {4, 2.00}, {64, 7.99}, {768, 27.73}}};
  for (const auto& [width, text] : kText) {
    const double root = std::sqrt(static_cast<double>(width));
    const double spread = spread_of(width, pairs);
    // The fourth moment of such a product is (3 + 6/d) d^2: by that the error of a sample's deviation.
    const double error =
        root * std::sqrt((2 + 6 / static_cast<double>(width)) / 4 / static_cast<double>(pairs));
    std::cout << fmt::format("{:>6} {:>7.2f} {:>12.2f} {:>8.2f} {:>9.2f}{}\n", width, spread, text,
                             spread / root, root, judged(std::abs(spread - root) < 5 * error));
  }
}

/// Every row's largest weight, and its entropy in nats.
struct Sharpness {
  std::vector<double> largest;
  std::vector<double> entropy;
};

Sharpness sharpness_of(const Variable& weights) {
  Sharpness sharpness;
  for (Index row = 0; row < weights.shape().rows(); ++row) {
    const Real* const p = weights.data() + row * kKeys;
    double entropy = 0;
    for (Index k = 0; k < kKeys; ++k)
      if (p[k] > 0) entropy -= static_cast<double>(p[k]) * std::log(static_cast<double>(p[k]));
    sharpness.largest.push_back(static_cast<double>(*std::max_element(p, p + kKeys)));
    sharpness.entropy.push_back(entropy);
  }
  return sharpness;
}

/// A median's standard error times the root of the sample's size, whatever the distribution: how many of n
/// values lie below the true median has a deviation of sqrt(n)/2, so values that far from the middle are
/// one standard error away.
double spread_of_median(std::vector<double> values) {
  std::ranges::sort(values);
  const double root = std::sqrt(static_cast<double>(values.size()));
  const auto at = [&](double place) {
    return values[static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(values.size() - 1)))];
  };
  const double middle = 0.5 * static_cast<double>(values.size());
  return 0.5 * root * (at(middle + 0.5 * root) - at(middle - 0.5 * root));
}

/// Weights (rows, 16) of one random query a row among 16 random keys.
void sharpnesses(Index rows, const std::string& file) {
  Generator generator(123, Purpose::evaluation);
  Tensor raw(Shape{rows, kKeys});
  for (Index row = 0; row < rows; ++row) {
    const Tensor query = normals({kHeadWidth}, generator);
    const Tensor keys = normals({kKeys, kHeadWidth}, generator);
    for (Index k = 0; k < kKeys; ++k)
      raw(row, k) =
          std::inner_product(query.data(), query.data() + kHeadWidth, keys.data() + k * kHeadWidth, Real{0});
  }
  const double root = std::sqrt(static_cast<double>(kHeadWidth));
  const Sharpness plain = sharpness_of(softmax(Variable(raw)));
  const Sharpness scaled = sharpness_of(softmax(scale(Variable(raw), static_cast<Real>(1 / root))));
  std::cout << fmt::format("\nweights of {} rows of {} keys, d_k = {}\n", rows, kKeys, kHeadWidth)
            << "                            ours   in the text\n";
  const auto show = [&](std::string_view name, double ours, double text, double spread, double rounding) {
    // Of a sample of this size and one of 5,000, five standard errors apart at most.
    const double error = spread * std::sqrt(1 / static_cast<double>(rows) + 1 / 5000.0);
    std::cout << fmt::format("  {:<22} {:>7.3f} {:>12.3f}{}\n", name, ours, text,
                             judged(std::abs(ours - text) < 5 * error + rounding));
  };
  const auto median = [&](std::string_view name, const std::vector<double>& values, double text) {
    show(name, median_of(values), text, spread_of_median(values), 0.0005);
  };
  const auto mean = [&](std::string_view name, const std::vector<double>& values, double text) {
    show(name, moments_of(values).mean, text, moments_of(values).deviation, 0.005);
  };
  median("raw: largest, median", plain.largest, 0.978);
  median("scaled: largest, median", scaled.largest, 0.224);
  mean("raw: entropy, mean", plain.entropy, 0.28);
  mean("scaled: entropy, mean", scaled.entropy, 2.36);
  std::cout << fmt::format("  (an even row: largest {:.3f}, entropy {:.3f} nats)\n", 1.0 / kKeys,
                           std::log(static_cast<double>(kKeys)));
  if (file.empty()) return;
  std::ofstream out(file);
  out << "largest_raw,largest_scaled,entropy_raw,entropy_scaled\n";
  for (std::size_t i = 0; i < plain.largest.size(); ++i)
    out << fmt::format("{},{},{},{}\n", plain.largest[i], scaled.largest[i], plain.entropy[i],
                       scaled.entropy[i]);
  require(out.flush().good(), "{}: cannot be written", file);
}

/// The length of the gradient of weight `which` with respect to the scores, by the tape.
double gradient_of_weight(const Tensor& scores, int which) {
  Tape tape;
  const Variable recorded = tape.variable(scores);
  tape.backward(sum(slice(softmax(recorded), 0, which, which + 1)));
  double squares = 0;
  for (const Real part : recorded.gradient().values()) squares += std::pow(static_cast<double>(part), 2);
  return std::sqrt(squares);
}

/// Six scores of one query, d = 64, as the text gives them.
void six_scores() {
  const Tensor raw({6}, {Real(-9.799), -4, Real(-0.607), Real(2.8), Real(-3.593), Real(-0.429)});
  const Tensor scaled = scale(Variable(raw), Real(0.125)).value();
  constexpr std::array kRaw{0.000, 0.001, 0.031, 0.930, 0.002, 0.037};
  constexpr std::array kScaled{0.061, 0.126, 0.192, 0.294, 0.132, 0.196};
  const Tensor raw_weights = softmax(Variable(raw)).value();
  const Tensor scaled_weights = softmax(Variable(scaled)).value();
  std::cout
      << "\nthe text's six scores: a weight, in the text, and the length of its gradient by the scores\n"
      << "          raw                           / 8\n"
      << "  key  weight   text  gradient    weight   text  gradient   ratio\n";
  const auto agrees = [](Real ours, double text) {
    return fmt::format("{:.3f}", ours) == fmt::format("{:.3f}", text);
  };
  for (int k = 0; k < 6; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double before = gradient_of_weight(raw, k);
    const double after = gradient_of_weight(scaled, k);
    std::cout << fmt::format(
        "  {:>3} {:>7.3f} {:>6.3f} {:>9.3f} {:>9.3f} {:>6.3f} {:>9.3f} {:>7.1f}{}\n", k + 1, raw_weights(k),
        kRaw[at], before, scaled_weights(k), kScaled[at], after, after / before,
        judged(agrees(raw_weights(k), kRaw[at]) && agrees(scaled_weights(k), kScaled[at])));
  }
  const std::string sizes =
      fmt::format("{:.3f} and {:.3f}", gradient_of_weight(raw, 2), gradient_of_weight(scaled, 2));
  std::cout << fmt::format("  in the text: 0.041 and 0.173; that is the third weight's, {}{}\n", sizes,
                           judged(sizes == "0.041 and 0.173"));
}

Index count_from(const char* word) {
  const Index count = std::atoll(word);
  require(count >= 100 && count <= 10'000'000, "expected a count from 100 to 10,000,000, got {}", word);
  return count;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3 || count > 4) {
    std::cerr << "usage: scaling PAIRS ROWS [FILE]\n";
    return 2;
  }
  try {
    spreads(count_from(words[1]));
    sharpnesses(count_from(words[2]), count == 4 ? words[3] : "");
    six_scores();
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  return failed ? 1 : 0;
}
