#include "tapehead/interp/ablated_evaluation.h"

#include <cmath>

#include "support/functions.h"
#include "support/models.h"
#include "tapehead/interp/ablation_kinds.h"
#include "tapehead/nn/edits.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

const RepeatedSequence kTask({.vocabulary = 7, .length = 10, .period_min = 2, .period_max = 5});

Batch sampled_batch(Index count, std::uint64_t seed = 5) {
  Generator generator(seed, Purpose::evaluation);
  return kTask.sample(generator, count);
}

/// These sequences, whose targets are all 0, on induction positions.
Batch batch_of(std::initializer_list<std::initializer_list<std::int32_t>> rows) {
  Batch batch = noise_batch(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index b = 0;
  for (const auto& row : rows) {
    Index t = 0;
    for (const std::int32_t token : row) {
      batch.inputs(b, t) = token;
      batch.kinds(b, t++) = Kind::induction;
    }
    ++b;
  }
  return batch;
}

/// The removal by its definition: every edit in one pass over the whole model.
Evaluation by_definition(const Transformer& model, const Batch& batch, const Batch& reference,
                         const Removal& removal, const EvaluateOptions& options) {
  const Index layers = model.config().layers;
  std::vector<Site> sites;
  for (const Site& site : sites_of(model.config()))
    if (site.layer != kNoLayer) sites.push_back(site);
  Recorder plain(sites);
  evaluate(model, batch, {plain}, options);
  Recorder others(sites);
  evaluate(model, reference, {others}, options);
  Edits edits;
  Index first = layers;
  for (const Site& component : removal.components) {
    const Site whole{component.kind, component.layer, kAllHeads};
    first = std::min(first, component.layer);
    if (removal.kind == AblationKind::mean)
      edits.mean(component, others.at(whole));
    else if (removal.kind == AblationKind::resample)
      edits.put(component, others.at(whole));
    else
      edits.zero(component);
  }
  for (Index layer = 0; layer < layers; ++layer) {
    if (removal.kind == AblationKind::pattern_preserving) edits.put(pattern(layer), plain.at(pattern(layer)));
    if (removal.kind == AblationKind::value_preserving && layer > first)
      edits.put(values(layer), plain.at(values(layer)));
  }
  return evaluate(model, batch, {edits}, options);
}

/// One head whose output z at t is the mean of the values 0, 1, ..., 15 of the tokens up to t; the loss at
/// target 0 is loss_of(z).
Transformer reading_model() {
  Transformer model(
      {.vocabulary = 16, .context = 2, .width = 2, .heads = 1, .layers = 1, .positions = Positions::none}, 1);
  set_to_zero(model);
  set_parameter(model, "embedding.weight", {0, 0, 1, 0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,  0,
                                            8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15, 0});
  set_parameter(model, "blocks.0.attention.qkv.weight", {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
  set_parameter(model, "blocks.0.attention.output.weight", {0, 0, 1, 0});
  set_parameter(model, "unembedding.weight", {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                              0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  return model;
}

double loss_of(double z) { return std::log(std::exp(z) + 15) - z; }

/// Checks the losses, given what z is where.
void check_losses(const Evaluation& evaluation, std::initializer_list<double> zs) {
  Tensor expected(evaluation.losses.shape());
  std::transform(zs.begin(), zs.end(), expected.data(),
                 [](double z) { return static_cast<Real>(loss_of(z)); });
  check_close(evaluation.losses, expected, sizeof(Real) == 8 ? 1e-12 : 1e-6);
}

std::vector<Evaluation> reading(const Batch& batch, const Batch& reference, AblationKind kind, Index shard) {
  return evaluate_ablated(reading_model(), batch, reference, {{kind, {head_output(0, 0)}}}, {.shard = shard})
      .ablated;
}

/// Two layers of one head. The first head writes the mean of what it has read into channel 1; the second
/// reads its keys from channel `keys`, its values from channel `values`, and says what it found.
Transformer chained_model(std::size_t keys, std::size_t values) {
  Transformer model({.vocabulary = 4,
                     .context = 10,
                     .width = 4,
                     .heads = 1,
                     .layers = 2,
                     .qkv_bias = true,
                     .positions = Positions::none},
                    1);
  set_to_zero(model);
  set_parameter(model, "embedding.weight", {1, 0, 0, 0, -2, 0, 0, 0, 3, 0, 0, 0, 0.5, 0, 0, 0});
  const auto set = [&](const char* name, std::size_t row, std::size_t column, double value) {
    const Parameter parameter = model.parameters().find(name);
    const std::size_t place = static_cast<std::size_t>(parameter.offset) + row * 4 + column;
    model.parameters().change()[place] = static_cast<Real>(value);
  };
  set("blocks.0.attention.qkv.weight", 8, 0, 1);
  set("blocks.0.attention.output.weight", 1, 0, 1);
  // Queries are 1 in their first channel; keys and values begin at rows 4 and 8.
  set("blocks.1.attention.qkv.bias", 0, 0, 1);
  set("blocks.1.attention.qkv.weight", 4, keys, 1);
  set("blocks.1.attention.qkv.weight", 8, values, 1);
  set("blocks.1.attention.output.weight", 2, 0, 1);
  for (std::size_t token = 0; token < 4; ++token)
    set("unembedding.weight", token, 2, static_cast<double>(token) - 1.5);
  return model;
}

std::vector<Ablation> first_head_by(const Transformer& model, const std::vector<AblationKind>& kinds) {
  Generator generator(1);
  const Batch batch = RepeatedSequence({.vocabulary = 4, .length = 10, .period_min = 2, .period_max = 5})
                          .sample(generator, 20);
  return ablate(model, batch, {}, single_removals(kinds, {head_output(0, 0)})).ablations;
}

constexpr auto kRoutes = {AblationKind::zero, AblationKind::pattern_preserving,
                          AblationKind::value_preserving};

Index differing(const Tensor& a, const Tensor& b) {
  Index count = 0;
  for (Index i = 0; i < a.count(); ++i) count += a.data()[i] != b.data()[i] ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("every kind of ablation of any set of components is what its definition says, over uneven shards") {
  ModelConfig config = everything_on();
  config.layers = 3;
  const Transformer model = random_model(config);
  const Batch batch = sampled_batch(5);
  const Batch reference = reference_batch(kTask, batch, 1);
  const EvaluateOptions options{.shard = 2};
  std::vector<Removal> removals;
  for (const AblationDefinition& kind : kAblationKinds)
    for (const std::vector<Site>& components : {std::vector{head_output(0, 1)},
                                                {head_output(0)},
                                                {feed_forward_output(0)},
                                                {head_output(2, 0)},
                                                {feed_forward_output(2)},
                                                {head_output(2, 1), head_output(1, 0)},
                                                {feed_forward_output(1), head_output(0, 0), head_output(1)}})
      removals.push_back({kind.kind, components});
  const AblatedEvaluations result = evaluate_ablated(model, batch, reference, removals, options);
  CHECK(same_bits(result.plain.losses, evaluate(model, batch, {}, options).losses));
  REQUIRE(result.ablated.size() == removals.size());
  for (std::size_t i = 0; i < removals.size(); ++i) {
    CAPTURE(definition_of(removals[i].kind).name);
    CAPTURE(component_name(removals[i].components.front()));
    const Evaluation expected = by_definition(model, batch, reference, removals[i], options);
    // Means are added up in another order.
    if (removals[i].kind == AblationKind::mean)
      check_close(result.ablated[i].losses, expected.losses);
    else
      CHECK(same_bits(result.ablated[i].losses, expected.losses));
    CHECK(differing(result.ablated[i].losses, result.plain.losses) > 0);
    if (removals[i].kind != AblationKind::mean) CHECK(same_bits(result.ablated[i].hits, expected.hits));
  }
}

TEST_CASE("zeroing a head is done before the output projection, whose bias stays") {
  const Transformer model = two_head_model();
  const auto loss = [](std::initializer_list<double> logits) {
    double total = 0;
    for (const double logit : logits) total += std::exp(logit);
    return std::log(total) - *logits.begin();
  };
  const AblatedEvaluations result =
      evaluate_ablated(model, batch_of({{0}}), {},
                       {{AblationKind::zero, {head_output(0, 0)}}, {AblationKind::zero, {head_output(0)}}});
  const double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-6;
  check_close(result.plain.losses, {1, 1}, {loss({12.1, 5.2, 0.3, 9.4})}, tolerance);
  check_close(result.ablated[0].losses, {1, 1}, {loss({11.1, 3.2, -3.7, 10.4})}, tolerance);
  check_close(result.ablated[1].losses, {1, 1}, {loss({0.1, 0.2, 0.3, 0.4})}, tolerance);
}

TEST_CASE("a mean is taken per position, over all reference sequences alike, and from the plain run") {
  const Batch batch = batch_of({{2, 4}, {6, 8}});
  // z is (1, 5) and (3, 7) in the reference sequences: (2, 6) in the mean.
  const Batch two = batch_of({{1, 9}, {3, 11}});
  for (const Index shard : {1, 2})
    check_losses(reading(batch, two, AblationKind::mean, shard).front(), {2, 6, 2, 6});
  // Shards of three and one, whose z at the first position is 1, 2, 3, and 10.
  const Batch four = batch_of({{1, 1}, {2, 2}, {3, 3}, {10, 10}});
  check_losses(reading(four, four, AblationKind::mean, 3).front(), {4, 4, 4, 4, 4, 4, 4, 4});
}

TEST_CASE("resampling puts there what came by in the reference sequence of the same place") {
  const Batch batch = batch_of({{2, 4}, {6, 8}, {0, 2}});
  const Batch reference = batch_of({{1, 9}, {3, 11}, {15, 1}});
  for (const Index shard : {1, 2, 3})
    check_losses(reading(batch, reference, AblationKind::resample, shard).front(), {1, 5, 3, 7, 15, 8});
  check_losses(reading(batch, batch, AblationKind::resample, 2).front(), {2, 3, 6, 7, 0, 1});
}

TEST_CASE(
    "an effect through keys shows with values held and is hidden with patterns held, one through values "
    "not") {
  const std::vector<Ablation> keys = first_head_by(chained_model(1, 0), kRoutes);
  CHECK(std::abs(keys[0].change_loss.mean) > 0.01);
  CHECK(keys[1].change_loss.mean == 0);
  CHECK(keys[2].change_loss.mean == keys[0].change_loss.mean);
  const std::vector<Ablation> values = first_head_by(chained_model(0, 1), kRoutes);
  CHECK(std::abs(values[0].change_loss.mean) > 0.01);
  CHECK(values[1].change_loss.mean == values[0].change_loss.mean);
  CHECK(values[2].change_loss.mean == 0);
}

TEST_CASE("in the last layer nothing is left to hold") {
  const Transformer model = random_model(everything_on());
  const Batch batch = sampled_batch(4);
  for (const Site& component : {head_output(1, 0), feed_forward_output(1)}) {
    const std::vector<Evaluation> all =
        evaluate_ablated(model, batch, {},
                         single_removals({AblationKind::zero, AblationKind::pattern_preserving,
                                          AblationKind::value_preserving},
                                         {component}))
            .ablated;
    CHECK(same_bits(all[1].losses, all[0].losses));
    CHECK(same_bits(all[2].losses, all[0].losses));
  }
}

TEST_CASE("the reference batch repeats as the batch does, and is another, the same each time") {
  const Batch batch = sampled_batch(12);
  const Batch reference = reference_batch(kTask, batch, 3);
  CHECK(reference.kinds == batch.kinds);
  CHECK(reference.earlier_copy == batch.earlier_copy);
  CHECK_FALSE(reference.inputs == batch.inputs);
  CHECK(reference_batch(kTask, batch, 3).inputs == reference.inputs);
  CHECK_FALSE(reference_batch(kTask, batch, 4).inputs == reference.inputs);
  // Not what the evaluation batch of that seed is drawn from.
  Generator evaluation(3, Purpose::evaluation);
  CHECK_FALSE(kTask.resample(batch, evaluation).inputs == reference.inputs);
}

TEST_CASE("what the model does not have, or does not fit it, cannot be ablated") {
  const Transformer model = random_model(attention_only());
  const Batch batch = sampled_batch(2);
  const auto failure = [&](AblationKind kind, const Site& component, const Batch& reference) {
    return failure_of([&] { evaluate_ablated(model, batch, reference, {{kind, {component}}}); });
  };
  CHECK_MESSAGE(
      failure(AblationKind::zero, head_output(0, 2), {}).find("between 0 and 1") != std::string::npos,
      "head");
  CHECK(failure(AblationKind::zero, head_output(2, 0), {})
            .starts_with("[site] this model has no site blocks.2"));
  CHECK(failure(AblationKind::zero, feed_forward_output(0), {})
            .starts_with("[site] this model has no site blocks.0.feed_forward.output"));
  CHECK(failure(AblationKind::zero, queries(0, 0), {})
            .starts_with("[ablation] expected heads or feed-forward outputs"));
  for (const AblationKind kind : {AblationKind::mean, AblationKind::resample})
    for (const Batch& other : {Batch{}, sampled_batch(3)})
      CHECK(failure(kind, head_output(0, 0), other)
                .starts_with("[ablation] expected a reference of 2 sequences"));
  CHECK(failure(AblationKind::resample, head_output(0, 0), batch) == "done");
}

TEST_CASE("components are named, and listed layer by layer") {
  CHECK(component_name(head_output(0, 1)) == "layer 0 head 1");
  CHECK(component_name(head_output(2)) == "layer 2 all heads");
  CHECK(component_name(feed_forward_output(1)) == "layer 1 feed-forward");
  CHECK(all_components(attention_only()) == std::vector{head_output(0, 0), head_output(0, 1), head_output(0),
                                                        head_output(1, 0), head_output(1, 1),
                                                        head_output(1)});
  const std::vector<Site> all = all_components(everything_on());
  CHECK(all.size() == 8);
  CHECK(all[3] == feed_forward_output(0));
  for (const AblationDefinition& kind : kAblationKinds) CHECK(definition_of(kind.kind).name == kind.name);
}

TEST_CASE("the route of an effect is read off what holding patterns and values hides") {
  const auto route = [](std::size_t keys, std::size_t values) {
    const Transformer model = chained_model(keys, values);
    const std::vector<Ablation> all = first_head_by(model, kRoutes);
    return route_of(all[0], all[1], all[2], model.config());
  };
  CHECK(route(1, 0) == Route::queries_and_keys);
  CHECK(route(0, 1) == Route::values);
  CHECK(route(0, 0) == Route::no_effect);
}
