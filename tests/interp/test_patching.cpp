#include "tapehead/interp/patching.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "support/functions.h"
#include "support/induction_model.h"
#include "support/models.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/edits.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/tasks/repeated_sequence.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr Index kVocabulary = 16;
constexpr Index kLength = 12;
constexpr Index kPeriod = 6;  // query 11, copy 5, after it 6

/// Six different tokens, twice; in the corrupted twin a seventh in place of the one at 5.
PatchingPairs distinct_pairs(Index count = 5) {
  PatchingPairs pairs{.clean = noise_batch(count, kLength),
                      .corrupted = {},
                      .query = kLength - 1,
                      .copies = {kLength - 1 - kPeriod},
                      .sequence = {}};
  for (Index b = 0; b < count; ++b)
    for (Index t = 0; t < kLength; ++t) {
      const auto token = [&](Index at) {
        return static_cast<std::int32_t>((at % kPeriod * 5 + b) % kVocabulary);
      };
      pairs.clean.inputs(b, t) = token(t);
      pairs.clean.targets(b, t) = token(t + 1);
      if (t < kPeriod) continue;
      pairs.clean.kinds(b, t) = Kind::induction;
      pairs.clean.earlier_copy(b, t) = static_cast<std::int32_t>(t - kPeriod);
    }
  pairs.corrupted = pairs.clean.inputs;
  for (Index b = 0; b < count; ++b)
    pairs.corrupted(b, 5) = static_cast<std::int32_t>((14 + b) % kVocabulary);  // 14 is no multiple of 5
  return pairs;
}

/// Pairs of the default task over the vocabulary of attention_only().
PatchingPairs sampled_pairs(Index count = 9) {
  const RepeatedSequence task({.vocabulary = 7, .length = 10, .period_min = 2, .period_max = 6});
  Generator generator(5, Purpose::evaluation);
  return patching_pairs(task, task.sample(generator, 8), {}, count, 5);
}

/// A model that answers better on the clean sequences: the untrained one, its clean targets being what it
/// likes. (Patching asks for no more.)
PatchingPairs liked_by(const Transformer& model, PatchingPairs pairs) {
  for (Index b = 0; b < pairs.clean.size(); ++b) {
    const Tensor clean = model(Pass(), pairs.clean.inputs.rows(b, 1)).value();
    const Tensor corrupted = model(Pass(), pairs.corrupted.rows(b, 1)).value();
    std::int32_t best = 0;
    const auto gain = [&](std::int32_t v) { return clean(0, pairs.query, v) - corrupted(0, pairs.query, v); };
    for (std::int32_t v = 1; v < model.config().vocabulary; ++v)
      if (gain(v) > gain(best)) best = v;
    pairs.clean.targets(b, pairs.query) = best;
  }
  return pairs;
}

void check_exactly(const Estimate& effect, double value) {
  CHECK(effect.mean == value);
  CHECK(effect.low == value);
  CHECK(effect.high == value);
}

using Places = std::vector<std::array<Index, 3>>;  // layer, head, position

/// The query without a match looks evenly at positions 1 to 11. With the clean token at 5, another token that
/// stands there twice rivals the right one, which stands there once.
double effect_of_the_copys_value() {
  const double once = std::exp(20.0 / 11);
  const double twice = std::exp(40.0 / 11);
  const double corrupted = std::log(once / (4 * twice + 3 * once + 9));
  const double patched = std::log(once / (5 * twice + once + 10));
  const double clean = -std::log1p(15 * std::exp(-20.0));
  return (patched - corrupted) / (clean - corrupted);
}

/// Checks that these places restore everything and all others of the grid nothing, exactly; but for one that
/// the query sees only when it finds no match.
void check_restored(const PatchingGrid& grid, const Places& restored, const Places& seen_without_match = {}) {
  const Transformer model = perfect_induction_model(kVocabulary, kLength);
  const Patching patching = patch(model, distinct_pairs(), grid);
  CHECK(patching.accuracy_clean == 1);
  CHECK(patching.accuracy_corrupted == 0);
  std::size_t found = 0;
  for (const Patch& patch : patching.patches) {
    CAPTURE(to_string(patch.site));
    CAPTURE(patch.position);
    const std::array place{patch.site.layer, patch.site.head, patch.position};
    if (std::find(seen_without_match.begin(), seen_without_match.end(), place) != seen_without_match.end()) {
      CHECK(patch.effect.mean == doctest::Approx(effect_of_the_copys_value()).epsilon(1e-5));
      continue;
    }
    const bool is_restored = std::find(restored.begin(), restored.end(), place) != restored.end();
    found += is_restored ? 1 : 0;
    check_exactly(patch.effect, is_restored ? 1 : 0);
  }
  CHECK(found == restored.size());
}

PatchingGrid sent(const char* to, SiteKind site = SiteKind::head_output, PatchBy by = PatchBy::head) {
  return {.site = site, .by = by, .to = parse_receiver(to, perfect_induction_model(4, 4).config())};
}

/// log p of the clean targets at the query, by sequence, of logits (B, T, V).
std::vector<double> log_probabilities(const Tensor& logits, const PatchingPairs& pairs) {
  std::vector<double> result;
  for (Index b = 0; b < pairs.clean.size(); ++b) {
    double total = 0;
    for (Index v = 0; v < logits.shape()[2]; ++v)
      total += std::exp(static_cast<double>(logits(b, pairs.query, v)));
    const Index target = pairs.clean.targets(b, pairs.query);
    result.push_back(static_cast<double>(logits(b, pairs.query, target)) - std::log(total));
  }
  return result;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool same_patchings(const Patching& a, const Patching& b) {
  return a.clean == b.clean && a.corrupted == b.corrupted && a.patches.size() == b.patches.size() &&
         std::equal(a.patches.begin(), a.patches.end(), b.patches.begin(),
                    [](const Patch& x, const Patch& y) {
                      return x.site == y.site && x.position == y.position &&
                             std::memcmp(&x.effect, &y.effect, sizeof(Estimate)) == 0;
                    });
}

constexpr Index kAll = kAllHeads;
constexpr Index kEvery = kAllPositions;

}  // namespace

TEST_CASE("the perfect circuit copies on every induction position and guesses elsewhere") {
  const Transformer model = perfect_induction_model(kVocabulary, kLength);
  const Evaluation evaluation = evaluate(model, distinct_pairs().clean);
  CHECK(evaluation.accuracy(Kind::induction) == 1);
  CHECK(evaluation.loss(Kind::induction) == doctest::Approx(std::log1p(15 * std::exp(-20.0))).epsilon(1e-3));
  CHECK(evaluation.loss(Kind::noise) > 2);
}

TEST_CASE("in a perfect circuit one head a layer restores everything, and the other nothing") {
  check_restored({}, {{0, 0, kEvery}, {1, 0, kEvery}});
  check_restored({.by = PatchBy::layer}, {{0, kAll, kEvery}, {1, kAll, kEvery}});
  check_restored({.by = PatchBy::head_position}, {{0, 0, 6}, {1, 0, 11}});
  check_restored({.by = PatchBy::position}, {{0, kAll, 6}, {1, kAll, 11}});
  check_restored({.by = PatchBy::head, .layer = 1}, {{1, 0, kEvery}});
}

TEST_CASE("in a perfect circuit the answer moves from the copy to the place after it to the query") {
  check_restored({.site = SiteKind::residual_before, .by = PatchBy::position},
                 {{0, kAll, 5}, {1, kAll, 6}, {kNoLayer, kAll, 11}}, {{1, kAll, 5}});
  check_restored({.site = SiteKind::attention_output, .by = PatchBy::position},
                 {{0, kAll, 6}, {1, kAll, 11}});
}

TEST_CASE("in a perfect circuit keys and pattern of the induction head carry the match") {
  check_restored({.site = SiteKind::keys, .by = PatchBy::head_position}, {{1, 0, 6}});
  check_restored({.site = SiteKind::pattern, .by = PatchBy::head_position}, {{1, 0, 11}});
  check_restored({.site = SiteKind::values, .by = PatchBy::head_position}, {{0, 0, 5}}, {{1, 0, 5}});
  check_restored({.site = SiteKind::queries, .by = PatchBy::head_position}, {});
}

TEST_CASE(
    "in a perfect circuit the previous-token head reaches the answer by the induction head's keys alone") {
  check_restored(sent("1.0.keys"), {{0, 0, kEvery}});
  check_restored(sent("1.0"), {{0, 0, kEvery}});
  for (const char* to : {"1.0.queries", "1.0.values", "1.1.keys", "1.1"}) {
    CAPTURE(to);
    check_restored(sent(to), {});
  }
  check_restored(sent("logits"), {{1, 0, kEvery}});
  check_restored(sent("1.0.keys", SiteKind::residual_before, PatchBy::position), {{1, kAll, 6}});
  check_restored(sent("logits", SiteKind::residual_before, PatchBy::position), {{kNoLayer, kAll, 11}});
}

TEST_CASE(
    "the whole stream patched restores everything, and the positions before the copy nothing, exactly") {
  for (const ModelConfig& config : {attention_only(), everything_on()}) {
    const Transformer model = random_model(config);
    const PatchingPairs pairs = liked_by(model, sampled_pairs());
    const Patching whole = patch(model, pairs, {.site = SiteKind::residual_before, .by = PatchBy::layer});
    REQUIRE(whole.patches.size() == 3);
    for (const Patch& patch : whole.patches) check_exactly(patch.effect, 1);
    for (const PatchingGrid& grid : usual_grids(model.config())) {
      Index before = 0;
      for (const Patch& patch : patch(model, pairs, grid).patches)
        if (patch.position >= 0 && patch.position < pairs.copies.back()) {
          check_exactly(patch.effect, 0);
          ++before;
        }
      CHECK((before > 0) == is_by_position(grid));
    }
  }
}

TEST_CASE("an effect is the ratio of the means that plain edits give") {
  const Transformer model = random_model(everything_on());
  const PatchingPairs pairs = liked_by(model, sampled_pairs());
  const Patching patching = patch(model, pairs, {});
  const double clean = mean(log_probabilities(model(Pass(), pairs.clean.inputs).value(), pairs));
  const double corrupted = mean(log_probabilities(model(Pass(), pairs.corrupted).value(), pairs));
  CHECK(patching.clean == doctest::Approx(clean).epsilon(1e-5));
  CHECK(patching.corrupted == doctest::Approx(corrupted).epsilon(1e-5));
  CHECK(patching.difference.mean == doctest::Approx(clean - corrupted).epsilon(1e-5));
  for (const Patch& patch : patching.patches) {
    Recorder recorder({head_output(patch.site.layer)});
    model(Pass().watched_by({recorder}), pairs.clean.inputs);
    Edits edits;
    edits.put(patch.site, recorder.at(head_output(patch.site.layer)));
    const double patched =
        mean(log_probabilities(model(Pass().watched_by({edits}), pairs.corrupted).value(), pairs));
    CHECK(patch.effect.mean == doctest::Approx((patched - corrupted) / (clean - corrupted)).epsilon(1e-4));
    CHECK(patch.effect.low <= patch.effect.mean);
    CHECK(patch.effect.mean <= patch.effect.high);
    CHECK(patch.effect.low < patch.effect.high);
  }
}

TEST_CASE("a path patch changes what the receiver reads by what the sender writes, and nothing else") {
  // By hand: no norm, so the keys move by the head's change times both projections.
  const Transformer model = random_model(attention_only());
  const PatchingPairs pairs = liked_by(model, sampled_pairs());
  const auto recorded = [&](const Tokens& tokens, const Site& site) {
    Recorder recorder({site});
    model(Pass().watched_by({recorder}), tokens);
    return Variable(recorder.at(site));
  };
  const Variable change =
      recorded(pairs.clean.inputs, head_output(0)) - recorded(pairs.corrupted, head_output(0));
  const Variable write =
      transpose(Variable(parameter_value(model, "blocks.0.attention.output.weight")), 0, 1);
  const Variable read = slice(Variable(parameter_value(model, "blocks.1.attention.qkv.weight")), 0, 6, 12);
  const double clean = mean(log_probabilities(model(Pass(), pairs.clean.inputs).value(), pairs));
  const double corrupted = mean(log_probabilities(model(Pass(), pairs.corrupted).value(), pairs));
  const Patching patching = patch(model, pairs, {.to = parse_receiver("1.1.keys", model.config())});
  REQUIRE(patching.patches.size() == 2);
  for (Index head = 0; head < 2; ++head) {
    const Variable written =
        matmul(slice(change, 2, head * 3, head * 3 + 3), slice(write, 0, head * 3, head * 3 + 3));
    const Variable moved = recorded(pairs.corrupted, keys(1)) + matmul(written, transpose(read, 0, 1));
    Edits edits;
    edits.put(keys(1, 1), moved.value());
    const double patched =
        mean(log_probabilities(model(Pass().watched_by({edits}), pairs.corrupted).value(), pairs));
    const double effect = (patched - corrupted) / (clean - corrupted);
    CHECK(std::abs(effect) > 1e-4);
    CHECK(patching.patches[static_cast<std::size_t>(head)].effect.mean ==
          doctest::Approx(effect).epsilon(1e-3));
  }
}

TEST_CASE("on a path to the logits all later attention and feed-forward parts stay corrupted") {
  // With every later write held, the final stream moves by the sender's write alone.
  ModelConfig config = everything_on();
  config.norm = NormKind::none;
  const Transformer model = random_model(config);
  const PatchingPairs pairs = liked_by(model, sampled_pairs());
  const auto recorded = [&](const Tokens& tokens, const Site& site) {
    Recorder recorder({site});
    model(Pass().watched_by({recorder}), tokens);
    return Variable(recorder.at(site));
  };
  const Patching patching = patch(
      model, pairs,
      {.site = SiteKind::attention_output, .by = PatchBy::layer, .to = parse_receiver("logits", config)});
  REQUIRE(patching.patches.size() == 2);
  for (Index layer = 0; layer < 2; ++layer) {
    const Site site = attention_output(layer);
    const Variable moved = recorded(pairs.corrupted, final_residual()) + recorded(pairs.clean.inputs, site) -
                           recorded(pairs.corrupted, site);
    const double patched = mean(log_probabilities(model.from_layer(Pass(), 2, moved).value(), pairs));
    const double effect = (patched - patching.corrupted) / (patching.clean - patching.corrupted);
    CHECK(std::abs(effect) > 1e-4);
    CHECK(patching.patches[static_cast<std::size_t>(layer)].effect.mean ==
          doctest::Approx(effect).epsilon(1e-3));
  }
}

TEST_CASE("the parts of the stream before a block, sent to all that the block's heads read, give the whole") {
  // One head: what is sent to it is all that the block reads; the rest of the stream stays corrupted.
  const Transformer model = perfect_induction_model(kVocabulary, kLength);
  const PatchingGrid grid{.site = SiteKind::residual_before,
                          .by = PatchBy::layer,
                          .to = parse_receiver("1.0", model.config()),
                          .layer = 1};
  check_exactly(patch(model, distinct_pairs(), grid).patches.at(0).effect, 1);
}

TEST_CASE("patchings have the same bits for any number of threads") {
  const Transformer model = random_model(everything_on());
  const PatchingPairs pairs = liked_by(model, sampled_pairs());
  for (PatchingGrid grid : usual_grids(model.config())) {
    const EvaluateOptions one{.threads = 1, .shard = 2};
    const EvaluateOptions four{.threads = 4, .shard = 2};
    CHECK(same_patchings(patch(model, pairs, grid, one), patch(model, pairs, grid, four)));
    grid.to = parse_receiver("1.1", model.config());
    CHECK(same_patchings(patch(model, pairs, grid, one), patch(model, pairs, grid, four)));
  }
}

TEST_CASE("patching leaves the model and the pairs as they were") {
  const Transformer model = random_model(attention_only());
  const PatchingPairs pairs = liked_by(model, sampled_pairs());
  const double loss = evaluate(model, pairs.clean).loss();
  const Patching first = patch(model, pairs, {});
  CHECK(evaluate(model, pairs.clean).loss() == loss);
  CHECK(same_patchings(patch(model, pairs, {}), first));
}

TEST_CASE("where clean and corrupted do not differ by more than their spread there is no effect") {
  Transformer model = random_model(attention_only());
  const PatchingPairs pairs = sampled_pairs();
  PatchingPairs swapped = liked_by(model, pairs);
  std::swap(swapped.clean.inputs, swapped.corrupted);
  CHECK_THROWS_WITH_AS(patch(model, swapped, {}),
                       doctest::Contains("hardly likelier at the query of clean sequences"), Error);
  PatchingPairs same = pairs;
  same.corrupted = same.clean.inputs;
  CHECK_THROWS_WITH_AS(patch(model, same, {}), doctest::Contains("interval from 0 to 0"), Error);
  set_to_zero(model);
  CHECK_THROWS_WITH_AS(patch(model, pairs, {}),
                       doctest::Contains("log-probabilities -1.946 and -1.946, a difference of 0 nats"),
                       Error);
}

TEST_CASE("a mean difference that its spread could make is none") {
  const Transformer model = perfect_induction_model(kVocabulary, kLength);
  PatchingPairs pairs = distinct_pairs(8);
  CHECK_NOTHROW(patch(model, pairs, {}));
  // One sequence of eight loses far more than each of the others gains.
  pairs.clean.targets(0, pairs.query) = pairs.clean.inputs(0, 1);
  const auto query_loss = [&](const Batch& batch) {
    const Tensor losses = evaluate(model, batch).losses;
    double total = 0;
    for (Index b = 0; b < 8; ++b) total += static_cast<double>(losses(b, pairs.query));
    return total / 8;
  };
  CHECK(query_loss(pairs.corrupted_batch()) - query_loss(pairs.clean) > 0.5);
  CHECK_THROWS_WITH_AS(patch(model, pairs, {}), doctest::Contains("nothing to restore"), Error);
}

TEST_CASE("a grid at or above its receiver is refused before anything runs") {
  const Transformer model = random_model(attention_only());
  const PatchingGrid grid{.to = parse_receiver("0.1.keys", model.config())};
  CHECK(complaint_of([&] { patch(model, sampled_pairs(), grid); }).find("lies below the receiver 0.1.keys") !=
        std::string::npos);
}

TEST_CASE(
    "the table of patchings has one row a place, with its role and all that is needed to make it again") {
  const Transformer model = perfect_induction_model(kVocabulary, kLength);
  PatchingPairs pairs = distinct_pairs();
  pairs.sequence = 3;
  std::vector<Patching> patchings;
  for (const PatchingGrid& grid : usual_grids(model.config())) patchings.push_back(patch(model, pairs, grid));
  patchings.push_back(patch(model, pairs, sent("1.0.keys")));
  const CsvTable table = patching_table(patchings, pairs, 2000);
  CHECK(table.columns() == std::vector<std::string>{"site", "by", "to", "layer", "head", "position", "role",
                                                    "effect", "low", "high", "clean", "corrupted", "step",
                                                    "sequences", "sequence", "query", "period"});
  REQUIRE(table.rows() == 4 + 48 + 36 + 2);
  const auto row = [&](Index number) {
    std::string text;
    for (const std::string& name : table.columns())
      if (name != "clean" && name != "corrupted") text += table.cell(number, name) + ",";
    return text;
  };
  CHECK(row(0) == "head_output,head,,0,0,all,,1,1,1,2000,5,3,11,6,");
  CHECK(row(4 + 6) == "head_output,head-position,,0,0,6,after the copy,1,1,1,2000,5,3,11,6,");
  CHECK(row(4 + 48 + 5) == "residual,position,,0,all,5,copy,1,1,1,2000,5,3,11,6,");
  CHECK(row(4 + 48 + 35) == "residual,position,,final,all,11,query,1,1,1,2000,5,3,11,6,");
  CHECK(row(4 + 48 + 36) == "head_output,head,1.0.keys,0,0,all,,1,1,1,2000,5,3,11,6,");
  CHECK(table.number(0, "clean") > -1e-6);
  CHECK(table.number(0, "corrupted") < -2);
  pairs.sequence.reset();
  CHECK(patching_table({patchings.front()}, pairs, 0).cell(0, "sequence").empty());
}

TEST_CASE("grids are added to those of the same step and sequences, and take the place of their like") {
  const Transformer model = perfect_induction_model(kVocabulary, kLength);
  const PatchingPairs pairs = distinct_pairs();
  const auto table = [&](const std::vector<PatchingGrid>& grids, Index step) {
    std::vector<Patching> patchings;
    for (const PatchingGrid& grid : grids) patchings.push_back(patch(model, pairs, grid));
    return patching_table(patchings, pairs, step);
  };
  const auto names = [](const CsvTable& of) {
    std::string text;
    for (Index row = 0; row < of.rows(); ++row)
      text += of.cell(row, "by") + " " + of.cell(row, "to") + " " + of.cell(row, "step") + ",";
    return text;
  };
  const CsvTable whole = table({{}, sent("1.0.keys")}, 7);
  const std::string heads = "head  7,head  7,head  7,head  7,";
  CHECK(names(whole) == heads + "head 1.0.keys 7,head 1.0.keys 7,");
  CHECK(names(with_grids(whole, table({{.by = PatchBy::layer}}, 7))) == names(whole) + "layer  7,layer  7,");
  CHECK(names(with_grids(whole, table({{}}, 7))) == "head 1.0.keys 7,head 1.0.keys 7," + heads);
  CHECK(names(with_grids(whole, table({{.by = PatchBy::layer}}, 8))) == "layer  8,layer  8,");
  CHECK(names(with_grids(CsvTable({}), whole)) == names(whole));
  CHECK(names(with_grids(CsvTable({"site", "by"}), whole)) == names(whole));
}

TEST_CASE("a table of patchings is made again, row by row, from the grids that it names") {
  const Transformer model = perfect_induction_model(kVocabulary, kLength);
  const PatchingPairs pairs = distinct_pairs();
  const auto table = [&](const std::vector<PatchingGrid>& grids) {
    std::vector<Patching> patchings;
    for (const PatchingGrid& grid : grids) patchings.push_back(patch(model, pairs, grid));
    return patching_table(patchings, pairs, 7);
  };
  std::vector<PatchingGrid> grids = usual_grids(model.config());
  grids.push_back(sent("1.0.keys"));
  grids.push_back({.site = SiteKind::pattern, .by = PatchBy::layer});
  const CsvTable first = table(grids);
  const std::vector<PatchingGrid> read = grids_of(first, model.config());
  REQUIRE(read.size() == grids.size());
  const CsvTable second = table(read);
  REQUIRE(second.rows() == first.rows());
  for (Index row = 0; row < first.rows(); ++row)
    for (const std::string& name : first.columns()) CHECK(second.cell(row, name) == first.cell(row, name));
}
