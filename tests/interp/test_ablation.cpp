#include "tapehead/interp/ablation.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "support/models.h"
#include "tapehead/base/random.h"
#include "tapehead/base/require.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Batch sampled_batch(Index count, Index vocabulary = 4) {
  Generator generator(5, Purpose::evaluation);
  return RepeatedSequence({.vocabulary = vocabulary, .length = 10, .period_min = 2, .period_max = 5})
      .sample(generator, count);
}

/// One layer of two heads whose logits are the same at every position: head 0 adds `kHead` to them, the bias
/// of the output projection `kBias`, and head 1 nothing.
constexpr std::array<double, 4> kHead{2, -1, 0.5, 0};
constexpr std::array<double, 4> kBias{0, 0.25, -0.5, 1};

Transformer constant_model() {
  Transformer model(
      {.vocabulary = 4, .context = 10, .width = 4, .heads = 2, .layers = 1, .qkv_bias = true, .bias = true},
      1);
  set_to_zero(model);
  // Head 0's value is (1, 0), head 1's (0, 1): the output projection reads one and not the other.
  set_parameter(model, "blocks.0.attention.qkv.bias", {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1});
  set_parameter(model, "blocks.0.attention.output.weight",
                {kHead[0], 0, 0, 0, kHead[1], 0, 0, 0, kHead[2], 0, 0, 0, kHead[3], 0, 0, 0});
  set_parameter(model, "blocks.0.attention.output.bias", {kBias[0], kBias[1], kBias[2], kBias[3]});
  set_parameter(model, "unembedding.weight", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  return model;
}

/// -log softmax of the constant logits, by target.
std::array<double, 4> losses_by_target(bool with_head) {
  std::array<double, 4> logits{};
  double total = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    logits[i] = kBias[i] + (with_head ? kHead[i] : 0);
    total += std::exp(logits[i]);
  }
  std::array<double, 4> losses{};
  for (std::size_t i = 0; i < 4; ++i) losses[i] = std::log(total) - logits[i];
  return losses;
}

/// The mean over sequences of the means of value[target] over the positions of a kind.
double mean_over(const Batch& batch, const std::array<double, 4>& value, std::initializer_list<Kind> kinds) {
  double total = 0;
  for (Index b = 0; b < batch.size(); ++b) {
    double sum = 0;
    double count = 0;
    for (Index t = 0; t < batch.length(); ++t)
      for (const Kind kind : kinds)
        if (batch.kinds(b, t) == kind) {
          sum += value[static_cast<std::size_t>(batch.targets(b, t))];
          count += 1;
        }
    total += sum / count;
  }
  return total / static_cast<double>(batch.size());
}

/// What `constant_model` loses by its head 0, by target.
std::array<double, 4> head_effect() {
  std::array<double, 4> effect = losses_by_target(false);
  for (std::size_t i = 0; i < 4; ++i) effect[i] -= losses_by_target(true)[i];
  return effect;
}

bool same_estimate(const Estimate& a, const Estimate& b) {
  return std::memcmp(&a, &b, sizeof(Estimate)) == 0;
}

bool same_ablations(const std::vector<Ablation>& a, const std::vector<Ablation>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.layer == y.layer && x.head == y.head && same_estimate(x.change_loss, y.change_loss) &&
                  same_estimate(x.change_induction, y.change_induction) &&
                  same_estimate(x.change_noise, y.change_noise) &&
                  same_estimate(x.accuracy_induction, y.accuracy_induction);
         });
}

std::vector<double> normals(Generator& generator, std::size_t count, double mean) {
  std::vector<double> values(count);
  for (double& value : values) value = mean + generator.normal();
  return values;
}

}  // namespace

TEST_CASE("ablating a head of known effect changes the loss by that effect, on each kind of position") {
  const Transformer model = constant_model();
  const Batch batch = sampled_batch(20);
  const Evaluation plain = evaluate(model, batch);
  const double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-6;
  const std::array<double, 4> effect = head_effect();
  const Ablation ablation = zero_ablation(model, batch, plain, 0, 0);
  CHECK(ablation.layer == 0);
  CHECK(ablation.head == 0);
  const auto near = [&](double value) { return doctest::Approx(value).epsilon(tolerance); };
  CHECK(ablation.change_loss.mean == near(mean_over(batch, effect, {Kind::induction, Kind::noise})));
  CHECK(ablation.change_induction.mean == near(mean_over(batch, effect, {Kind::induction})));
  CHECK(ablation.change_noise.mean == near(mean_over(batch, effect, {Kind::noise})));
  // The bias alone makes 3 the likeliest token.
  CHECK(ablation.accuracy_induction.mean == near(mean_over(batch, {0, 0, 0, 1}, {Kind::induction})));
  CHECK(ablation.change_induction.low < ablation.change_induction.mean);
  CHECK(ablation.change_induction.mean < ablation.change_induction.high);
}

TEST_CASE("ablating a head that nobody reads changes nothing, and ablating the layer is ablating the other") {
  const Transformer model = constant_model();
  const Batch batch = sampled_batch(20);
  const Evaluation plain = evaluate(model, batch);
  const Ablation idle = zero_ablation(model, batch, plain, 0, 1);
  for (const Estimate& change : {idle.change_loss, idle.change_induction, idle.change_noise})
    CHECK(same_estimate(change, {0, 0, 0}));
  // With the head, 0 is the likeliest token.
  CHECK(idle.accuracy_induction.mean ==
        doctest::Approx(mean_over(batch, {1, 0, 0, 0}, {Kind::induction})).epsilon(1e-12));
  Ablation whole = zero_ablation(model, batch, plain, 0, kAllHeads);
  CHECK(whole.head == kAllHeads);
  whole.head = 0;
  CHECK(same_ablations({whole}, {zero_ablation(model, batch, plain, 0, 0)}));
}

TEST_CASE("a head or layer that the model does not have cannot be ablated") {
  const Transformer model = constant_model();
  const Batch batch = sampled_batch(2);
  const Evaluation plain = evaluate(model, batch);
  CHECK_THROWS_WITH_AS(zero_ablation(model, batch, plain, 0, 2), doctest::Contains("between 0 and 1"), Error);
  CHECK_THROWS_WITH_AS(zero_ablation(model, batch, plain, 1, 0),
                       doctest::Contains("no site blocks.1.attention.head_output[0]"), Error);
}

TEST_CASE("an ablation is compared with an evaluation of the same batch and no other") {
  const Transformer model = constant_model();
  const Batch batch = sampled_batch(4);
  CHECK_THROWS_WITH_AS(zero_ablation(model, batch, evaluate(model, sampled_batch(3)), 0, 0),
                       doctest::Contains("[ablation] expected the plain evaluation of the same batch"),
                       Error);
}

TEST_CASE("every head alone and every layer whole are ablated, layer by layer") {
  ModelConfig config = attention_only();
  config.layers = 3;
  const Transformer model = random_model(config);
  const Batch batch = sampled_batch(5, 7);
  const Evaluation plain = evaluate(model, batch);
  const std::vector<Ablation> all = ablate_all_heads(model, batch, plain);
  std::vector<Ablation> expected;
  for (Index layer = 0; layer < 3; ++layer)
    for (const Index head : {Index{0}, Index{1}, kAllHeads})
      expected.push_back(zero_ablation(model, batch, plain, layer, head));
  CHECK(same_ablations(all, expected));
  CHECK_FALSE(same_estimate(all[0].change_loss, all[1].change_loss));
  CHECK_FALSE(same_estimate(all[0].change_loss, all[2].change_loss));
}

TEST_CASE("ablations have the same bits for any number of threads") {
  const Transformer model = random_model(everything_on());
  const Batch batch = sampled_batch(9, 7);
  const EvaluateOptions one{.threads = 1, .shard = 2};
  const EvaluateOptions four{.threads = 4, .shard = 2};
  CHECK(same_ablations(ablate_all_heads(model, batch, evaluate(model, batch, {}, one), one),
                       ablate_all_heads(model, batch, evaluate(model, batch, {}, four), four)));
}

TEST_CASE("ablating leaves the model as it was") {
  const Transformer model = random_model(attention_only());
  const Batch batch = sampled_batch(4, 7);
  const Evaluation plain = evaluate(model, batch);
  const std::vector<Ablation> first = ablate_all_heads(model, batch, plain);
  CHECK(evaluate(model, batch).loss() == plain.loss());
  CHECK(same_ablations(ablate_all_heads(model, batch, plain), first));
}

TEST_CASE("the change in accuracy is the accuracy with the ablation less the one without") {
  const Transformer model = constant_model();
  const Batch batch = sampled_batch(20);
  const Ablation ablation = zero_ablation(model, batch, evaluate(model, batch), 0, 0);
  CHECK(ablation.change_accuracy_induction.mean ==
        doctest::Approx(ablation.accuracy_induction.mean - ablation.accuracy_plain));
  CHECK(ablation.change_accuracy_noise.low <= ablation.change_accuracy_noise.mean);
  CHECK(ablation.change_accuracy_noise.mean <= ablation.change_accuracy_noise.high);
}

TEST_CASE("the bootstrap of equal values has no width") {
  CHECK(same_estimate(bootstrap({0.75, 0.75, 0.75}, 1), {0.75, 0.75, 0.75}));
  CHECK(same_estimate(bootstrap({-2}, 1), {-2, -2, -2}));
}

TEST_CASE("the bootstrap leaves missing values out, and is missing where there are none") {
  const std::vector<double> values{1, 2, 4, 8, 16};
  const Estimate estimate = bootstrap(values, 3);
  CHECK(estimate.mean == 6.2);
  CHECK(estimate.low >= 1);
  CHECK(estimate.low < estimate.mean);
  CHECK(estimate.mean < estimate.high);
  CHECK(estimate.high <= 16);
  CHECK(same_estimate(bootstrap({kMissing, 1, 2, kMissing, 4, 8, 16, kMissing}, 3), estimate));
  for (const Estimate& none : {bootstrap({}, 1), bootstrap({kMissing, kMissing}, 1)}) {
    CHECK(std::isnan(none.mean));
    CHECK(std::isnan(none.low));
    CHECK(std::isnan(none.high));
  }
}

TEST_CASE("the bootstrap is a function of its values and its seed") {
  Generator generator(1);
  const std::vector<double> values = normals(generator, 50, 0);
  CHECK(same_estimate(bootstrap(values, 1), bootstrap(values, 1)));
  CHECK_FALSE(same_estimate(bootstrap(values, 1), bootstrap(values, 2)));
  CHECK(bootstrap(values, 1).mean == bootstrap(values, 2).mean);
}

TEST_CASE("the interval of many values is as wide as the normal approximation says") {
  Generator generator(2);
  const std::vector<double> values = normals(generator, 400, 3);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 400;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half_width = 1.959964 * std::sqrt(squares / 400 / 400);
  const Estimate estimate = bootstrap(values, 1);
  CHECK(estimate.mean == doctest::Approx(mean).epsilon(1e-12));
  CHECK(estimate.low == doctest::Approx(mean - half_width).epsilon(0.1 * half_width / mean));
  CHECK(estimate.high == doctest::Approx(mean + half_width).epsilon(0.1 * half_width / mean));
}

TEST_CASE("the bootstrap interval covers the true mean about 95 times in a hundred") {
  constexpr int kSamples = 400;
  Generator generator(3);
  int below = 0;
  int above = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Estimate estimate = bootstrap(normals(generator, 40, 1.5), 1);
    below += estimate.high < 1.5 ? 1 : 0;
    above += estimate.low > 1.5 ? 1 : 0;
  }
  // Three standard errors around 5 %, of which either side has about its half.
  CHECK(below + above >= 7);
  CHECK(below + above <= 33);
  CHECK(below <= 22);
  CHECK(above <= 22);
}

TEST_CASE("the table has one row an ablation, its first columns in the order promised") {
  const Ablation head{.layer = 1,
                      .head = 0,
                      .change_loss = {1.5, 1.25, 1.75},
                      .change_induction = {2.5, 2.25, 2.75},
                      .change_noise = {-0.5, -0.75, -0.25},
                      .accuracy_induction = {0.125, 0, 0.25}};
  Ablation layer = head;
  layer.head = kAllHeads;
  layer.change_noise = {kMissing, kMissing, kMissing};
  const CsvTable table = ablation_table({head, layer}, 2000, 256);
  const std::vector<std::string> promised{
      "kind", "layer", "head",         "change_loss",       "change_induction",
      "low",  "high",  "change_noise", "accuracy_induction"};
  REQUIRE(table.columns().size() >= promised.size());
  CHECK(std::vector<std::string>(table.columns().begin(), table.columns().begin() + 9) == promised);
  REQUIRE(table.rows() == 2);
  const std::vector<std::string> cells{"zero", "1", "0", "1.5", "2.5", "2.25", "2.75", "-0.5", "0.125"};
  for (std::size_t i = 0; i < promised.size(); ++i) CHECK(table.cell(0, promised[i]) == cells[i]);
  CHECK(table.number(0, "loss_low") == 1.25);
  CHECK(table.number(0, "loss_high") == 1.75);
  CHECK(table.number(0, "noise_low") == -0.75);
  CHECK(table.number(0, "noise_high") == -0.25);
  CHECK(table.cell(1, "head") == "all");
  CHECK(table.cell(1, "step") == "2000");
  CHECK(table.cell(1, "sequences") == "256");
  CHECK(table.cell(1, "change_noise").empty());
  CHECK(ablation_table({}, 0, 0).rows() == 0);
}
