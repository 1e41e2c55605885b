#include "tapehead/interp/attribution.h"

#include <cmath>
#include <limits>

#include "support/functions.h"
#include "support/models.h"
#include "support/tokens_model.h"
#include "tapehead/nn/edits.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Batch some_batch(Index count = 5) {
  Generator generator(5, Purpose::evaluation);
  return RepeatedSequence({.vocabulary = 7, .length = 9, .period_min = 2, .period_max = 5})
      .sample(generator, count);
}

/// The right token's logit, or that above the mean, a mean over the positions of a kind, or of all.
double mean_logit(const Transformer& model, const Batch& batch, std::string_view kind, bool above_mean,
                  Watch watch = {}) {
  Recorder recorder({logits_site()});
  watch.add(recorder);
  evaluate(model, batch, watch);
  const Tensor logits = recorder.at(logits_site());
  double sum = 0;
  double count = 0;
  for (Index b = 0; b < batch.size(); ++b)
    for (Index t = 0; t < batch.length(); ++t) {
      if (kind != "all" && (kind == "induction") != (batch.kinds(b, t) == Kind::induction)) continue;
      sum += static_cast<double>(logits(b, t, batch.targets(b, t)));
      for (Index v = 0; v < 7 && above_mean; ++v) sum -= static_cast<double>(logits(b, t, v)) / 7;
      ++count;
    }
  return sum / count;
}

doctest::Approx near(double value) { return doctest::Approx(value).epsilon(20 * kRounding).scale(1); }

}  // namespace

TEST_CASE("the parts sum to the logit on every kind of position, and above the mean too") {
  ModelConfig with_rms = everything_on();
  with_rms.norm = NormKind::rms;
  with_rms.positions = Positions::alibi;
  for (const ModelConfig& config : {attention_only(), everything_on(), with_rms}) {
    const Transformer model = random_model(config);
    const Batch batch = some_batch();
    const Attribution attribution = attribute_logits(model, batch);
    CHECK(attribution.largest_error < 100 * kRounding);
    CHECK(attribution.relative_error <= attribution.largest_error);
    CHECK(attribution.positions[0] == 45);
    CHECK(attribution.positions[0] == attribution.positions[1] + attribution.positions[2]);
    for (std::size_t kind = 0; kind < kAttributionKinds.size(); ++kind) {
      CAPTURE(std::string(kAttributionKinds[kind]));
      AttributedPart sum;
      for (const Component& component : attribution.components) {
        sum.logit += component.parts[kind].logit;
        sum.above_mean += component.parts[kind].above_mean;
      }
      CHECK(sum.logit == near(mean_logit(model, batch, kAttributionKinds[kind], false)));
      CHECK(sum.above_mean == near(mean_logit(model, batch, kAttributionKinds[kind], true)));
      CHECK(attribution.logits[kind].logit == near(sum.logit));
      CHECK(attribution.logits[kind].above_mean == near(sum.above_mean));
    }
  }
}

TEST_CASE("the part of a head of the last layer is what its zeroing takes away") {
  const Transformer model = random_model(attention_only());
  const Batch batch = some_batch();
  const Attribution attribution = attribute_logits(model, batch);
  for (const Component& component : attribution.components) {
    if (component.layer != 1) continue;
    Edits edits;
    edits.zero(head_output(1, component.head));
    for (const bool above_mean : {false, true}) {
      const double lost = mean_logit(model, batch, "induction", above_mean) -
                          mean_logit(model, batch, "induction", above_mean, {edits});
      CHECK((above_mean ? component.parts[1].above_mean : component.parts[1].logit) == near(lost));
    }
  }
}

TEST_CASE("parts of embeddings, biases and feed-forward are what writes along the read-out") {
  // Without layer norms every part is a plain product with the read-out's row.
  ModelConfig config = everything_on();
  config.norm = NormKind::none;
  const Transformer model = random_model(config);
  const Batch batch = some_batch();
  Recorder recorder({feed_forward_output(1)});
  evaluate(model, batch, {recorder});
  const Tensor written = recorder.at(feed_forward_output(1));
  const Tensor table = parameter_value(model, "embedding.weight");
  const Tensor positions = parameter_value(model, "positions.weight");
  const Tensor bias = parameter_value(model, "blocks.0.attention.output.bias");
  std::array<double, 4> sums{};
  for (Index b = 0; b < batch.size(); ++b)
    for (Index t = 0; t < batch.length(); ++t)
      for (Index c = 0; c < 6; ++c) {
        const auto along = static_cast<double>(table(batch.targets(b, t), c)) / 45;
        sums[0] += along * static_cast<double>(table(batch.inputs(b, t), c));
        sums[1] += along * static_cast<double>(positions(t, c));
        sums[2] += along * static_cast<double>(bias(c));
        sums[3] += along * static_cast<double>(written(b, t, c));
      }
  const Attribution attribution = attribute_logits(model, batch);
  REQUIRE(attribution.components.size() == 10);
  CHECK(attribution.components[0].parts[0].logit == near(sums[0]));
  CHECK(attribution.components[1].parts[0].logit == near(sums[1]));
  CHECK(attribution.components[4].parts[0].logit == near(sums[2]));
  CHECK(attribution.components[9].parts[0].logit == near(sums[3]));
}

TEST_CASE("components come in the order of the stream, as far as the model has them") {
  const auto names = [](const ModelConfig& config) {
    std::string text;
    for (const Component& component : attribute_logits(random_model(config), some_batch()).components)
      text += fmt::format("{}{}{} ", component.name,
                          component.layer == kNoLayer ? "" : std::to_string(component.layer),
                          component.head == kAllHeads ? "" : "." + std::to_string(component.head));
    return text;
  };
  CHECK(names(attention_only()) == "token_embedding positions head0.0 head0.1 head1.0 head1.1 ");
  CHECK(names(everything_on()) ==
        "token_embedding positions head0.0 head0.1 attention_bias0 feed_forward0 "
        "head1.0 head1.1 attention_bias1 feed_forward1 final_norm_bias ");
  ModelConfig bare = attention_only();
  bare.layers = 0;
  bare.positions = Positions::none;
  CHECK(names(bare) == "token_embedding ");
}

TEST_CASE("what every token gets alike is no part above the mean") {
  // Tokens are axes, and the head adds 1 to the logit of the one token that it sees: itself.
  const Transformer model = token_model(4, 1);
  Batch batch = noise_batch(1, 1);
  const Attribution same = attribute_logits(model, batch);  // token 0, target 0
  CHECK(same.components[0].parts[0].logit == 1);
  CHECK(same.components[0].parts[0].above_mean == 0.75);
  CHECK(same.components[1].parts[0].logit == 1);
  batch.targets(0, 0) = 2;
  const Attribution other = attribute_logits(model, batch);
  CHECK(other.components[1].parts[0].logit == 0);
  CHECK(other.components[1].parts[0].above_mean == -0.25);
  // No position of the kind, no mean.
  CHECK(std::isnan(other.components[1].parts[1].logit));
  CHECK(other.components[1].parts[2].logit == 0);
}

TEST_CASE("parts that do not come to the logit are an error, and the threads change nothing") {
  Transformer model = random_model(attention_only());
  const Batch batch = some_batch(7);
  const EvaluateOptions small{.shard = 2};
  const CsvTable table = attribution_table(attribute_logits(model, batch, small), 1, 7);
  const CsvTable threaded =
      attribution_table(attribute_logits(model, batch, {.threads = 3, .shard = 2}), 1, 7);
  REQUIRE(table.rows() == 7 * 3);
  for (Index row = 0; row < table.rows(); ++row)
    for (const char* column : {"component", "logit", "above_mean", "largest_error"})
      CHECK(table.cell(row, column) == threaded.cell(row, column));
  CHECK(table.cell(6, "component") == "head");
  CHECK(table.cell(6, "layer") == "0");
  CHECK(table.cell(6, "head") == "0");
  CHECK(table.cell(7, "kind") == "induction");
  CHECK(table.cell(20, "component") == "sum");
  CHECK(table.cell(20, "kind") == "noise");

  model.parameters().change()[3] = std::numeric_limits<Real>::infinity();
  CHECK_THROWS_WITH_AS(attribute_logits(model, batch), doctest::Contains("do not sum to the logits"), Error);
  CHECK_THROWS_AS(attribute_logits(random_model(attention_only()), noise_batch(0, 3)), Error);
}
