#include "tapehead/interp/ablation.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

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

Ablation zero_ablation(const Transformer& model, const Batch& batch, Index layer, Index head,
                       const EvaluateOptions& options = {}) {
  return ablate(model, batch, {}, {{AblationKind::zero, {head_output(layer, head)}}}, options).ablations[0];
}

bool same_estimate(const Estimate& a, const Estimate& b) {
  return std::memcmp(&a, &b, sizeof(Estimate)) == 0;
}

bool same_ablations(const std::vector<Ablation>& a, const std::vector<Ablation>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.removal.kind == y.removal.kind && x.removal.components == y.removal.components &&
                  measured_cells(x) == measured_cells(y) && same_estimate(x.change_loss, y.change_loss) &&
                  same_estimate(x.change_induction, y.change_induction) &&
                  same_estimate(x.change_noise, y.change_noise) &&
                  same_estimate(x.accuracy_induction, y.accuracy_induction);
         });
}

std::vector<Removal> every_removal(const ModelConfig& config) {
  std::vector<AblationKind> kinds;
  for (const AblationDefinition& kind : kAblationKinds) kinds.push_back(kind.kind);
  return single_removals(kinds, all_components(config));
}

}  // namespace

TEST_CASE("ablating a head of known effect changes the loss by that effect, on each kind of position") {
  const Transformer model = constant_model();
  const Batch batch = sampled_batch(20);
  const double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-6;
  const std::array<double, 4> effect = head_effect();
  const Ablation ablation = zero_ablation(model, batch, 0, 0);
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
  const Ablation idle = zero_ablation(model, batch, 0, 1);
  for (const Estimate& change : {idle.change_loss, idle.change_induction, idle.change_noise})
    CHECK(same_estimate(change, {0, 0, 0}));
  // With the head, 0 is the likeliest token.
  CHECK(idle.accuracy_induction.mean ==
        doctest::Approx(mean_over(batch, {1, 0, 0, 0}, {Kind::induction})).epsilon(1e-12));
  Ablation whole = zero_ablation(model, batch, 0, kAllHeads);
  whole.removal.components = {head_output(0, 0)};
  CHECK(same_ablations({whole}, {zero_ablation(model, batch, 0, 0)}));
}

TEST_CASE(
    "every head alone and every layer whole are ablated by every kind, and each as if it were the only one") {
  ModelConfig config = attention_only();
  config.layers = 3;
  const Transformer model = random_model(config);
  const Batch batch = sampled_batch(5, 7);
  const Batch reference = sampled_batch(5, 7);
  const std::vector<Removal> removals = every_removal(config);
  CHECK(removals.size() == 5 * 9);
  const std::vector<Ablation> all = ablate(model, batch, reference, removals).ablations;
  for (std::size_t i = 0; i < removals.size(); ++i)
    CHECK(same_ablations({all[i]}, ablate(model, batch, reference, {removals[i]}).ablations));
  CHECK_FALSE(same_estimate(all[0].change_loss, all[1].change_loss));
  CHECK_FALSE(same_estimate(all[0].change_loss, all[2].change_loss));
}

TEST_CASE("ablations have the same bits for any number of threads") {
  const Transformer model = random_model(everything_on());
  const Batch batch = sampled_batch(9, 7);
  const Batch reference = batch.rows(0, 9);
  const std::vector<Removal> removals = every_removal(model.config());
  const AblationStudy one = ablate(model, batch, reference, removals, {.threads = 1, .shard = 2});
  const AblationStudy four = ablate(model, batch, reference, removals, {.threads = 4, .shard = 2});
  CHECK(same_ablations(one.ablations, four.ablations));
  CHECK(one.plain.loss() == four.plain.loss());
}

TEST_CASE("ablating leaves the model as it was") {
  const Transformer model = random_model(attention_only());
  const Batch batch = sampled_batch(4, 7);
  const double plain = evaluate(model, batch).loss();
  const std::vector<Removal> removals = every_removal(model.config());
  const AblationStudy first = ablate(model, batch, batch, removals);
  CHECK(first.plain.loss() == plain);
  CHECK(evaluate(model, batch).loss() == plain);
  CHECK(same_ablations(ablate(model, batch, batch, removals).ablations, first.ablations));
}

TEST_CASE("taking nothing out changes nothing") {
  const Transformer model = random_model(attention_only());
  const Ablation none = ablate(model, sampled_batch(4, 7), {}, {Removal{}}).ablations.front();
  for (const Estimate& change :
       {none.change_loss, none.change_induction, none.change_noise, none.change_accuracy_induction})
    CHECK(same_estimate(change, {0, 0, 0}));
  CHECK(none.accuracy_induction.mean == none.accuracy_plain);
}

TEST_CASE("the change in accuracy is the accuracy with the ablation less the one without") {
  const Transformer model = constant_model();
  const Batch batch = sampled_batch(20);
  const Ablation ablation = zero_ablation(model, batch, 0, 0);
  CHECK(ablation.change_accuracy_induction.mean ==
        doctest::Approx(ablation.accuracy_induction.mean - ablation.accuracy_plain));
  CHECK(ablation.change_accuracy_noise.low <= ablation.change_accuracy_noise.mean);
  CHECK(ablation.change_accuracy_noise.mean <= ablation.change_accuracy_noise.high);
}

TEST_CASE("the table has one row an ablation, its first columns in the order promised") {
  const Ablation head{.removal = {AblationKind::zero, {head_output(1, 0)}},
                      .change_loss = {1.5, 1.25, 1.75},
                      .change_induction = {2.5, 2.25, 2.75},
                      .change_noise = {-0.5, -0.75, -0.25},
                      .change_accuracy_induction = {-0.5, -0.625, -0.375},
                      .change_accuracy_noise = {0.25, 0.125, 0.5},
                      .accuracy_induction = {0.125, 0, 0.25},
                      .accuracy_plain = 0.875};
  Ablation layer = head;
  layer.removal = {AblationKind::mean, {head_output(1)}};
  layer.change_noise = {kMissing, kMissing, kMissing};
  Ablation feed_forward = head;
  feed_forward.removal = {AblationKind::value_preserving, {feed_forward_output(0)}};
  const CsvTable table = ablation_table({head, layer, feed_forward}, 2000, 256);
  const std::vector<std::string> promised{
      "kind", "layer", "head",         "change_loss",       "change_induction",
      "low",  "high",  "change_noise", "accuracy_induction"};
  REQUIRE(table.columns().size() >= promised.size());
  CHECK(std::vector<std::string>(table.columns().begin(), table.columns().begin() + 9) == promised);
  REQUIRE(table.rows() == 3);
  const std::vector<std::string> cells{"zero", "1", "0", "1.5", "2.5", "2.25", "2.75", "-0.5", "0.125"};
  for (std::size_t i = 0; i < promised.size(); ++i) CHECK(table.cell(0, promised[i]) == cells[i]);
  for (const auto& [column, value] : std::map<std::string, double>{{"loss_low", 1.25},
                                                                   {"loss_high", 1.75},
                                                                   {"noise_low", -0.75},
                                                                   {"noise_high", -0.25},
                                                                   {"change_accuracy_induction", -0.5},
                                                                   {"change_accuracy_induction_low", -0.625},
                                                                   {"change_accuracy_induction_high", -0.375},
                                                                   {"change_accuracy_noise", 0.25},
                                                                   {"change_accuracy_noise_low", 0.125},
                                                                   {"change_accuracy_noise_high", 0.5},
                                                                   {"accuracy_induction_low", 0},
                                                                   {"accuracy_induction_high", 0.25},
                                                                   {"accuracy_plain", 0.875}})
    CHECK(table.number(0, column) == value);
  CHECK(table.cell(1, "kind") == "mean");
  CHECK(table.cell(1, "head") == "all");
  CHECK(table.cell(1, "step") == "2000");
  CHECK(table.cell(1, "sequences") == "256");
  CHECK(table.cell(1, "change_noise").empty());
  CHECK(table.cell(2, "kind") == "value-preserving");
  CHECK(table.cell(2, "head") == "feed_forward");
  CHECK(ablation_table({}, 0, 0).rows() == 0);
  Ablation both = head;
  both.removal.components.push_back(head_output(0, 0));
  CHECK_THROWS_WITH_AS(ablation_table({both}, 0, 0), doctest::Contains("a row is of one component, got 2"),
                       Error);
}
