#include "tapehead/interp/circuits.h"

#include <cmath>

#include "support/models.h"
#include "support/tokens_model.h"
#include "tapehead/interp/circuit_tables.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// Two tokens' axes are turned by a right angle, and so on.
void set_quarter_turns(Transformer& model, std::string_view name) {
  set_identity(model, name, 0);
  const Parameter parameter = model.parameters().find(name);
  const Index size = parameter.shape[1];
  Real* place = model.parameters().change().data() + parameter.offset;
  for (Index i = 0; i + 1 < size; i += 2) {
    place[i * size + i + 1] = -1;
    place[(i + 1) * size + i] = 1;
  }
}

/// W_E W_V W_O W_U as the definition has it, (V, V), in double.
std::vector<std::vector<double>> full_ov(const Transformer& model, const HeadWeights& head) {
  const ModelConfig& config = model.config();
  const Tensor embedding = parameter_value(model, "embedding.weight");
  const Tensor readout = parameter_value(model, readout_name(config));
  const Index width = config.width;
  std::vector<std::vector<double>> rows;
  for (Index t = 0; t < config.vocabulary; ++t) {
    std::vector<double> written(static_cast<std::size_t>(width));
    for (Index d = 0; d < head.value.shape()[1]; ++d) {
      double value = 0;
      for (Index c = 0; c < width; ++c)
        value += static_cast<double>(embedding(t, c)) * static_cast<double>(head.value(c, d));
      for (Index c = 0; c < width; ++c)
        written[static_cast<std::size_t>(c)] += value * static_cast<double>(head.output(d, c));
    }
    double mean = 0;
    for (const double x : written) mean += x / static_cast<double>(width);
    std::vector<double>& row = rows.emplace_back();
    for (Index u = 0; u < config.vocabulary; ++u) {
      double logit = 0;
      for (Index c = 0; c < width; ++c) {
        double x = written[static_cast<std::size_t>(c)];
        if (config.norm == NormKind::layer)
          x = (x - mean) * static_cast<double>(parameter_value(model, "final_norm.gain")(c));
        logit += x * static_cast<double>(readout(u, c));
      }
      row.push_back(logit);
    }
  }
  return rows;
}

/// Share of rows whose diagonal has fewer than `among` others as large.
double plain_top(const std::vector<std::vector<double>>& rows, int among) {
  double share = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    int larger = 0;
    for (std::size_t j = 0; j < rows.size(); ++j) larger += j != i && rows[i][j] >= rows[i][i] ? 1 : 0;
    share += larger < among ? 1.0 / static_cast<double>(rows.size()) : 0;
  }
  return share;
}

HeadCircuits circuits_of_token_model(const Transformer& model) { return circuits_of(model).heads.front(); }

/// A head that looks one back: a dimension for every position, queries of each point at the one before.
Transformer previous_token_model(Index positions, double sharpness) {
  Transformer model({.vocabulary = 3, .context = positions, .width = positions, .heads = 1, .layers = 1}, 1);
  set_to_zero(model);
  set_identity(model, "positions.weight", 1);
  set_identity(model, "blocks.0.attention.qkv.weight", 1, 1);
  const Parameter qkv = model.parameters().find("blocks.0.attention.qkv.weight");
  Real* place = model.parameters().change().data() + qkv.offset;
  // A query is x Wᵀ: of position t along axis t - 1.
  for (Index t = 1; t < positions; ++t) place[(t - 1) * positions + t] = static_cast<Real>(sharpness);
  return model;
}

bool same(const Circuits& a, const Circuits& b) {
  return circuit_table(a, 1, 2).rows() == circuit_table(b, 1, 2).rows() && [&] {
    for (std::size_t i = 0; i < a.heads.size(); ++i)
      if (a.heads[i].previous_token != b.heads[i].previous_token || a.heads[i].ov != b.heads[i].ov ||
          a.heads[i].qk != b.heads[i].qk || a.heads[i].ov_tokens != b.heads[i].ov_tokens ||
          a.heads[i].ov_singular != b.heads[i].ov_singular ||
          a.heads[i].copying_top1 != b.heads[i].copying_top1)
        return false;
    for (std::size_t i = 0; i < a.pairs.size(); ++i)
      if (a.pairs[i].scores != b.pairs[i].scores ||
          a.pairs[i].tokens.difference != b.pairs[i].tokens.difference)
        return false;
    return true;
  }();
}

}  // namespace

TEST_CASE("a previous-token head by hand scores 1 by its positions alone, one of nothing the chance level") {
  const Circuits sharp = circuits_of(previous_token_model(10, 400));
  CHECK(sharp.heads.front().previous_token == doctest::Approx(1).epsilon(1e-6));
  CHECK(sharp.positions == 10);
  const Circuits even = circuits_of(previous_token_model(10, 0));
  double chance = 0;
  for (int t = 1; t < 10; ++t) chance += 1.0 / (t + 1) / 9;
  CHECK(even.chance_previous_token() == doctest::Approx(chance).epsilon(1e-12));
  CHECK(even.heads.front().previous_token == doctest::Approx(chance).epsilon(1e-6));
  // Fewer positions, with a softmax that is neither: the scores are those of W_pos alone.
  const Circuits some = circuits_of(previous_token_model(10, 2), {.positions = 2});
  const double weight = std::exp(2 / std::sqrt(10.0));
  CHECK(some.heads.front().previous_token == doctest::Approx(weight / (weight + 1)).epsilon(1e-6));
  CHECK(std::isnan(circuits_of(token_model(4, 1)).heads.front().previous_token));
  CHECK(std::isnan(circuits_of(previous_token_model(10, 2), {.positions = 1}).heads.front().previous_token));
}

TEST_CASE("perfect copying scores 1, its opposite -1, quarter turns 0, and a head of nothing has no sign") {
  const HeadCircuits copying = circuits_of_token_model(token_model(6, 2));
  CHECK(copying.copying_top1 == 1);
  CHECK(copying.copying_top5 == 1);
  CHECK(copying.copying_eigenvalues == 1);
  CHECK(copying.ov_singular == std::vector<double>(6, 2));
  const HeadCircuits opposite = circuits_of_token_model(token_model(6, -1));
  CHECK(opposite.copying_top1 == 0);
  CHECK(opposite.copying_top5 == 0);
  CHECK(opposite.copying_eigenvalues == -1);
  Transformer turning = token_model(6, 0);
  set_quarter_turns(turning, "blocks.0.attention.output.weight");
  const HeadCircuits turned = circuits_of_token_model(turning);
  CHECK(std::abs(turned.copying_eigenvalues) < 1e-12);
  CHECK(turned.copying_top1 == 0);
  for (const std::complex<double>& value : turned.ov)
    CHECK(std::abs(value) == doctest::Approx(1).epsilon(1e-9));
  const HeadCircuits nothing = circuits_of_token_model(token_model(6, 0));
  CHECK(std::isnan(nothing.copying_eigenvalues));
  CHECK(nothing.copying_top1 == 0);
  CHECK(nothing.copying_top5 == 0);
}

TEST_CASE("full OV is that of the large matrix, with tied read-outs and folded layer norms too") {
  for (const ModelConfig& config : {attention_only(), everything_on()}) {
    const Transformer model = random_model(config, 3);
    const Circuits circuits = circuits_of(model);
    REQUIRE(circuits.heads.size() == 4);
    CHECK(circuits.tokens == 7);
    for (const HeadCircuits& head : circuits.heads) {
      const auto rows = full_ov(model, head_weights(model, head.layer, head.head));
      CHECK(head.copying_top1 == doctest::Approx(plain_top(rows, 1)));
      CHECK(head.copying_top5 == doctest::Approx(plain_top(rows, 5)));
      double trace = 0;
      double trace_of_square = 0;
      double size = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        trace += rows[i][i];
        for (std::size_t j = 0; j < rows.size(); ++j) {
          trace_of_square += rows[i][j] * rows[j][i];
          size += rows[i][j] * rows[i][j];
        }
      }
      std::complex<double> sum = 0;
      std::complex<double> squares = 0;
      double absolute = 0;
      for (const std::complex<double>& value : head.ov_tokens) {
        sum += value;
        squares += value * value;
        absolute += std::abs(value);
      }
      CHECK(sum.real() == doctest::Approx(trace).epsilon(kRounding).scale(std::sqrt(size)));
      CHECK(squares.real() == doctest::Approx(trace_of_square).epsilon(kRounding).scale(size));
      CHECK(head.copying_eigenvalues == doctest::Approx(sum.real() / absolute));
    }
  }
}

TEST_CASE("QK is divided by the root of the head's width, and its numbers are of the low-rank factors") {
  const Transformer model = random_model(attention_only());
  const Circuits circuits = circuits_of(model);
  const HeadWeights head = head_weights(model, 1, 0);
  double trace = 0;
  double squares = 0;
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) {
      double entry = 0;
      for (Index d = 0; d < 3; ++d)
        entry += static_cast<double>(head.query(i, d)) * static_cast<double>(head.key(j, d)) / std::sqrt(3.0);
      trace += i == j ? entry : 0;
      squares += entry * entry;
    }
  const HeadCircuits& found = circuits.heads[2];
  REQUIRE(found.qk.size() == 3);
  REQUIRE(found.qk_singular.size() == 3);
  double sum = 0;
  double singular = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    sum += found.qk[i].real();
    singular += found.qk_singular[i] * found.qk_singular[i];
  }
  CHECK(sum == doctest::Approx(trace).epsilon(10 * kRounding));
  CHECK(singular == doctest::Approx(squares).epsilon(10 * kRounding));
}

TEST_CASE(
    "where scores are no product of queries and keys, what rests on one is missing, and the rest is there") {
  ModelConfig normed = attention_only();
  normed.query_key_norm = true;
  ModelConfig additive = attention_only();
  additive.scores = ScoreForm::additive;
  for (const ModelConfig& config : {normed, additive}) {
    const Transformer model = random_model(config);
    const Circuits circuits = circuits_of(model);
    for (const HeadCircuits& head : circuits.heads) {
      CHECK(std::isnan(head.previous_token));
      CHECK(head.qk.empty());
      CHECK(head.qk_singular.empty());
      CHECK(head.ov.size() == 3);
      CHECK(std::isfinite(head.copying_eigenvalues));
    }
    for (const HeadPair& pair : circuits.pairs) {
      CHECK(std::isnan(pair.scores[static_cast<std::size_t>(Composition::queries)]));
      CHECK(std::isnan(pair.scores[static_cast<std::size_t>(Composition::keys)]));
      CHECK(pair.scores[static_cast<std::size_t>(Composition::values)] > 0);
      CHECK(std::isnan(pair.tokens.difference));
    }
    for (const double score : k_composition_scores(model)) CHECK(std::isnan(score));
  }
}

TEST_CASE("every pair of a head and an earlier one is there once, with its scores and its baseline") {
  ModelConfig config = attention_only();
  config.layers = 3;
  const Transformer model = random_model(config);
  const Circuits circuits = circuits_of(model);
  REQUIRE(circuits.pairs.size() == 12);
  for (const HeadPair& pair : circuits.pairs) {
    CHECK(pair.earlier_layer < pair.layer);
    const HeadWeights earlier = head_weights(model, pair.earlier_layer, pair.earlier_head);
    const HeadWeights later = head_weights(model, pair.layer, pair.head);
    for (const Composition how : {Composition::queries, Composition::keys, Composition::values})
      CHECK(pair.scores[static_cast<std::size_t>(how)] ==
            composition_score(ComposingHead(earlier), ComposingHead(later), how));
    const TokenComposition tokens =
        token_composition(earlier, later, parameter_value(model, "embedding.weight"));
    CHECK(pair.tokens.difference == tokens.difference);
    CHECK(pair.tokens.top1 == tokens.top1);
  }
  CHECK(circuits.baseline.mean == composition_baseline(6, 3).mean);
}

TEST_CASE("a large vocabulary is sampled, always the same, and the threads change nothing") {
  const Transformer model = token_model(40, 1, 2);
  const Circuits sampled = circuits_of(model, {.tokens = 9});
  CHECK(sampled.tokens == 9);
  CHECK(sampled.vocabulary == 40);
  CHECK(sampled.heads.front().copying_top1 == 1);
  CHECK(sampled.heads.front().copying_eigenvalues == 1);  // of all tokens
  const Transformer random = random_model(everything_on());
  CHECK(same(circuits_of(random, {.tokens = 4, .threads = 3}), circuits_of(random, {.tokens = 4})));
  CHECK_FALSE(same(circuits_of(random, {.tokens = 4}), circuits_of(random)));
  CHECK_THROWS_AS(circuits_of(model, {.tokens = 0}), Error);
  CHECK_THROWS_AS(circuits_of(model, {.positions = 13}), Error);
}

TEST_CASE("rows that lead among all tokens are counted in more than one piece of the matrix") {
  // A head that copies the first 100 of 130 tokens and confuses the rest.
  Transformer model = token_model(130, 1);
  const Parameter output = model.parameters().find("blocks.0.attention.output.weight");
  Real* place = model.parameters().change().data() + output.offset;
  for (Index i = 100; i < 130; ++i) place[i * 130 + i] = 0;
  const HeadCircuits head = circuits_of_token_model(model);
  CHECK(head.copying_top1 == doctest::Approx(100.0 / 130));
}

TEST_CASE("the factors that layer norms are held at sharpen the previous-token circuit alone") {
  ModelConfig config = everything_on();
  const Transformer model = random_model(config);
  const Circuits plain = circuits_of(model);
  const Circuits scaled = circuits_of(model, {.scales = {3, 3}});
  CHECK(plain.heads[0].previous_token != scaled.heads[0].previous_token);
  CHECK(plain.heads[0].copying_top1 == scaled.heads[0].copying_top1);
  CHECK(plain.heads[0].copying_eigenvalues == doctest::Approx(scaled.heads[0].copying_eigenvalues));
  CHECK(plain.pairs[0].scores[1] == doctest::Approx(scaled.pairs[0].scores[1]).epsilon(1e-5));
}

TEST_CASE("the tables of circuits have a row a head, a pair and way, and an eigenvalue") {
  const Circuits circuits = circuits_of(random_model(attention_only()));
  const CsvTable heads = circuit_table(circuits, 20, 8);
  REQUIRE(heads.rows() == 4);
  CHECK(heads.cell(3, "layer") == "1");
  CHECK(heads.cell(3, "head") == "1");
  CHECK(heads.cell(3, "copying_eigenvalues") == csv_cell(circuits.heads[3].copying_eigenvalues));
  CHECK(heads.cell(3, "previous_token_circuit") == csv_cell(circuits.heads[3].previous_token));
  CHECK(heads.cell(3, "step") == "20");
  CHECK(heads.cell(3, "sequences") == "8");
  const CsvTable pairs = composition_table(circuits, 20, 8);
  REQUIRE(pairs.rows() == 12);
  CHECK(pairs.cell(4, "composition") == "K");
  CHECK(pairs.cell(4, "earlier_head") == "1");
  CHECK(pairs.cell(4, "head") == "0");
  CHECK(pairs.cell(4, "score") == csv_cell(circuits.pairs[1].scores[1]));
  CHECK(pairs.cell(4, "diagonal_difference") == csv_cell(circuits.pairs[1].tokens.difference));
  CHECK(pairs.cell(3, "diagonal_difference").empty());
  CHECK(pairs.cell(3, "baseline") == csv_cell(circuits.baseline.mean));
  const CsvTable values = eigenvalue_table(circuits, 20, 8);
  REQUIRE(values.rows() == 4 * 3 * 3);
  CHECK(values.cell(3, "circuit") == "QK");
  CHECK(values.cell(3, "re") == csv_cell(circuits.heads[0].qk[0].real()));
  CHECK(values.cell(3, "singular_value") == csv_cell(circuits.heads[0].qk_singular[0]));
  CHECK(values.cell(8, "circuit") == "OV_tokens");
  CHECK(values.cell(8, "singular_value").empty());
}
