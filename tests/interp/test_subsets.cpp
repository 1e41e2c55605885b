#include "tapehead/interp/subsets.h"

#include <cmath>

#include "support/models.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr double kNear = sizeof(Real) == 8 ? 1e-9 : 1e-5;

/// A layer of heads of width 1, of which head h adds strength[h] to the logit of token 0; that of token 1 is
/// `rival` everywhere.
Transformer voting_model(const std::vector<double>& strengths, double rival) {
  const auto heads = static_cast<Index>(strengths.size());
  Transformer model({.vocabulary = 2,
                     .context = 4,
                     .width = heads,
                     .heads = heads,
                     .layers = 1,
                     .qkv_bias = true,
                     .bias = true,
                     .positions = Positions::none},
                    1);
  set_to_zero(model);
  const auto set = [&](const char* name, std::size_t place, double value) {
    const Parameter parameter = model.parameters().find(name);
    model.parameters().change()[static_cast<std::size_t>(parameter.offset) + place] =
        static_cast<Real>(value);
  };
  const std::size_t width = strengths.size();
  for (std::size_t head = 0; head < width; ++head) {
    set("blocks.0.attention.qkv.bias", 2 * width + head, 1);
    set("blocks.0.attention.output.weight", head, strengths[head]);  // into channel 0
  }
  set("blocks.0.attention.output.bias", 0, -rival);
  set("unembedding.weight", 0, 1);  // token 0 by channel 0, against 0 of token 1
  return model;
}

/// Sequences whose targets are all 0, on induction positions but for one sequence without any.
Batch votes() {
  Batch batch = noise_batch(5, 4);
  for (Index b = 0; b < 4; ++b)
    for (Index t = 1; t < 4; ++t) batch.kinds(b, t) = Kind::induction;
  return batch;
}

LayerSubsets subsets_of(const std::vector<double>& strengths, double rival) {
  return ablate_subsets(voting_model(strengths, rival), votes(), {}, AblationKind::zero, {0}).front();
}

void check_estimate(const Estimate& estimate, double value) {
  CHECK(estimate.mean == doctest::Approx(value).epsilon(kNear));
  CHECK(estimate.low == doctest::Approx(value).epsilon(kNear));
  CHECK(estimate.high == doctest::Approx(value).epsilon(kNear));
}

using Sets = std::vector<PlayerSet>;

}  // namespace

TEST_CASE("of two heads that stand in for one another neither shows alone, and both are found together") {
  // Either is enough against 15; the third has no say.
  const LayerSubsets layer = subsets_of({40, 40, 0}, 15);
  const double all = std::log1p(std::exp(15.0));
  REQUIRE(layer.subsets.size() == 8);
  for (const PlayerSet alone : {0b001U, 0b010U, 0b100U})
    CHECK(std::abs(layer.subsets[alone].change_induction.mean) < 1e-6);
  CHECK(layer.subsets[0b011].change_induction.mean == doctest::Approx(all).epsilon(kNear));
  check_estimate(layer.heads[0].shapley, all / 2);
  check_estimate(layer.heads[1].shapley, all / 2);
  CHECK(std::abs(layer.heads[2].shapley.mean) < 1e-6);
  CHECK(layer.heads[0].share == doctest::Approx(0.5).epsilon(kNear));
  CHECK(layer.pairs.size() == 3);
  check_estimate(layer.pairs[0].index, all);
  CHECK(layer.pairs[0].first == 0);
  CHECK(layer.pairs[0].second == 1);
  CHECK(std::abs(layer.pairs[1].index.mean) < 1e-6);
  check_estimate(layer.excess, all);
  CHECK(single_heads(layer) == SingleHeads::understate);
  CHECK(layer.behaviour_is_there());
  CHECK(layer.breaking == Sets{0b011});
  CHECK(layer.keeping == Sets{0b001, 0b010});
}

TEST_CASE("heads that add to a loss one by one have that for their Shapley values, and no interaction") {
  // Far below its rival, a logit's every unit is a nat.
  const LayerSubsets layer = subsets_of({4, 1, 2.5}, 100);
  const std::vector<double> strengths{4, 1, 2.5};
  for (std::size_t head = 0; head < 3; ++head) {
    check_estimate(layer.heads[head].shapley, strengths[head]);
    check_estimate(layer.heads[head].alone, strengths[head]);
    CHECK(layer.heads[head].share == doctest::Approx(strengths[head] / 7.5).epsilon(kNear));
  }
  for (const PairInteraction& pair : layer.pairs) CHECK(std::abs(pair.index.mean) < 100 * kNear);
  CHECK(single_heads(layer) == SingleHeads::add_up);
  // Token 0 is never the likeliest: there is nothing to break.
  CHECK_FALSE(layer.behaviour_is_there());
  CHECK(layer.breaking.empty());
  CHECK(layer.keeping.empty());
}

TEST_CASE(
    "of heads that are both needed each breaks the behaviour, and the excess tells how single heads "
    "mislead") {
  LayerSubsets layer = subsets_of({20, 20}, 30);
  CHECK(layer.subsets[0b01].change_induction.mean == doctest::Approx(10).epsilon(1e-3));
  CHECK(layer.subsets[0b11].change_induction.mean == doctest::Approx(30).epsilon(1e-3));
  CHECK(single_heads(layer) == SingleHeads::understate);
  CHECK(layer.breaking == Sets{0b01, 0b10});
  CHECK(layer.keeping == Sets{0b11});
  layer.excess = {-4, -5, -3};
  CHECK(single_heads(layer) == SingleHeads::overstate);
  layer.excess = {-4, -9, 1};
  CHECK(single_heads(layer) == SingleHeads::add_up);
  layer.excess = {2, 1.9, 2.1};
  CHECK(single_heads(layer) == SingleHeads::add_up);
}

TEST_CASE("what breaks and what keeps is measured from guessing, which with few tokens is right often") {
  LayerSubsets layer{.chance = 0.5};
  for (const double accuracy : {1.0, 0.74, 0.76, 0.96}) {
    Ablation ablation{.accuracy_plain = 1};
    ablation.accuracy_induction.mean = accuracy;
    layer.subsets.push_back(ablation);
  }
  CHECK(layer.broken_below() == 0.75);
  CHECK(layer.kept_from() == doctest::Approx(0.95));
  CHECK(layer.there_from() == doctest::Approx(0.55));
  const CsvTable table = subsets_table({layer}, 1, 1);
  std::string broken;
  std::string kept;
  for (Index row = 0; row < 4; ++row) {
    broken += table.cell(row, "broken");
    kept += table.cell(row, "kept");
  }
  CHECK(broken == "0100");
  CHECK(kept == "1001");
  layer.subsets[0].accuracy_plain = 0.54;
  CHECK_FALSE(layer.behaviour_is_there());
}

TEST_CASE("where no head is needed, the empty set keeps the behaviour and no set breaks it") {
  const LayerSubsets layer = subsets_of({1, 2}, -50);
  CHECK(layer.behaviour_is_there());
  CHECK(layer.breaking.empty());
  CHECK(layer.keeping == Sets{0});
}

TEST_CASE("Shapley values of every layer and kind sum to the whole layer's change, whatever the model") {
  ModelConfig config = everything_on();
  config.heads = 3;
  const Transformer model = random_model(config);
  Generator generator(5);
  const Batch batch = RepeatedSequence({.vocabulary = 7, .length = 10, .period_min = 2, .period_max = 5})
                          .sample(generator, 9);
  for (const AblationDefinition& kind : kAblationKinds)
    for (const LayerSubsets& layer :
         ablate_subsets(model, batch, batch.rows(0, 9), kind.kind, {0, 1}, {.threads = 2, .shard = 4})) {
      double sum = 0;
      for (const HeadShare& head : layer.heads) sum += head.shapley.mean;
      CHECK(std::abs(sum - layer.whole().mean) < 1e-12);
      // The bootstrap's mean of the sequences' games is the game of the means.
      Game game;
      for (const Ablation& subset : layer.subsets) game.push_back(subset.change_induction.mean);
      CHECK(std::abs(shapley_values(game)[1] - layer.heads[1].shapley.mean) < 1e-12);
      CHECK(std::abs(interaction_index(game, 0, 2) - layer.pairs[1].index.mean) < 1e-12);
      CHECK(std::abs(game[7] - game[1] - game[2] - game[4] - layer.excess.mean) < 1e-12);
      CHECK(layer.subsets[0].change_loss.mean == 0);
      const Ablation alone =
          ablate(model, batch, batch, {{kind.kind, {head_output(layer.layer, 1)}}}, {.shard = 4})
              .ablations[0];
      CHECK(measured_cells(layer.subsets[0b010]) == measured_cells(alone));
      CHECK(
          measured_cells(layer.subsets[0b111]) ==
          measured_cells(ablate(model, batch, batch, {{kind.kind, {head_output(layer.layer)}}}, {.shard = 4})
                             .ablations[0]));
    }
}

TEST_CASE("a layer of many heads is shared out as one of few") {
  // More subsets than are evaluated at once.
  std::vector<double> strengths(8, 0);
  strengths[2] = 40;
  strengths[7] = 40;
  const LayerSubsets layer = subsets_of(strengths, 40);
  CHECK(layer.subsets.size() == 256);
  CHECK(layer.breaking == Sets{0b10000100});
  CHECK(layer.keeping == Sets{0b00000100, 0b10000000});
  CHECK(layer.heads[7].shapley.mean == doctest::Approx(20).epsilon(kNear));
  for (PlayerSet set = 0; set < 256; ++set)
    CHECK((layer.subsets[set].change_induction.mean > 1) == ((set & 0b10000100U) == 0b10000100U));
}

TEST_CASE("the tables have a row for every set, every head and every pair") {
  const std::vector<LayerSubsets> layers{subsets_of({40, 40, 0}, 15)};
  const CsvTable subsets = subsets_table(layers, 2000, 5);
  REQUIRE(subsets.rows() == 8);
  CHECK(subsets.cell(0, "heads") == "none");
  CHECK(subsets.cell(5, "heads") == "0+2");
  CHECK(subsets.cell(5, "count") == "2");
  CHECK(subsets.cell(5, "kind") == "zero");
  CHECK(subsets.cell(3, "change_induction") == "15");
  CHECK(subsets.cell(3, "accuracy_induction") == "0");
  const auto cells = [&](const char* column) {
    std::string text;
    for (Index row = 0; row < 8; ++row) text += subsets.cell(row, column);
    return text;
  };
  CHECK(cells("broken") == "00010001");
  CHECK(cells("kept") == "11101110");
  CHECK(cells("smallest_breaking") == "00010000");
  CHECK(cells("smallest_keeping") == "00000110");
  const CsvTable shapley = shapley_table(layers, 2000, 5);
  REQUIRE(shapley.rows() == 3);
  CHECK(shapley.cell(1, "head") == "1");
  CHECK(shapley.cell(1, "shapley") == "7.5");
  CHECK(shapley.cell(1, "share") == "0.5");
  CHECK(shapley.cell(1, "whole_layer") == "15");
  CHECK(shapley.cell(1, "excess") == "15");
  CHECK(shapley.cell(2, "step") == "2000");
  CHECK(shapley.cell(2, "sequences") == "5");
  const CsvTable interactions = interactions_table(layers, 2000, 5);
  REQUIRE(interactions.rows() == 3);
  CHECK(interactions.cell(1, "first") == "0");
  CHECK(interactions.cell(1, "second") == "2");
  CHECK(interactions.cell(0, "interaction") == "15");
}

TEST_CASE("more heads than can be done are refused, and a layer that is not there") {
  const Transformer many =
      random_model({.vocabulary = 2, .context = 4, .width = 17, .heads = 17, .layers = 1});
  CHECK(failure_of([&] { ablate_subsets(many, votes(), {}, AblationKind::zero, {0}); }) ==
        "[subsets] expected at most 16 heads a layer, got 17");
  CHECK_THROWS_WITH_AS(ablate_subsets(voting_model({1, 1}, 0), votes(), {}, AblationKind::zero, {1}),
                       doctest::Contains("[site] this model has no site blocks.1"), Error);
}
