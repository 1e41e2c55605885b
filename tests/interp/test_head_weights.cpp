#include "tapehead/interp/head_weights.h"

#include "support/functions.h"
#include "support/models.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/nn/sinusoids.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Batch some_batch(Index sequences = 3, Index length = 5) {
  Batch batch = noise_batch(sequences, length);
  batch.inputs = random_tokens(sequences, length, 7, 3);
  return batch;
}

/// Rows (N, C) of what came by.
Tensor rows(const Tensor& x) { return x.reshaped({x.shape()[0] * x.shape()[1], x.shape()[2]}); }

/// Columns first, ..., first + count - 1.
Tensor columns(const Tensor& x, Index first, Index count) {
  Tensor part({x.shape()[0], count});
  for (Index i = 0; i < x.shape()[0]; ++i)
    for (Index j = 0; j < count; ++j) part(i, j) = x(i, first + j);
  return part;
}

ModelConfig with_norms(NormKind norm = NormKind::layer) {
  ModelConfig config = attention_only();
  config.norm = norm;
  return config;
}

/// Multiplies every row by what a norm would.
Tensor times_scale(Tensor x, const Tensor& stream, NormKind norm) {
  const Index width = stream.shape()[1];
  for (Index i = 0; i < x.shape()[0]; ++i)
    for (Index j = 0; j < x.shape()[1]; ++j)
      x(i, j) *= static_cast<Real>(
          Norm::scale_of(norm, {stream.data() + i * width, static_cast<std::size_t>(width)}));
  return x;
}

}  // namespace

TEST_CASE("a head's matrices make its queries, keys and values of the stream, with a layer norm too") {
  for (const ModelConfig& config : {attention_only(), with_norms(), with_norms(NormKind::rms)}) {
    const Transformer model = random_model(config);
    Recorder recorder({residual_before(1), queries(1), keys(1), values(1)});
    evaluate(model, some_batch(), {recorder});
    const Tensor stream = rows(recorder.at(residual_before(1)));
    for (const Index head : {0, 1}) {
      const HeadWeights weights = head_weights(model, 1, head);
      CHECK(weights.layer == 1);
      CHECK(weights.head == head);
      const auto check_part = [&](const Tensor& matrix, const Site& site) {
        Tensor expected = product(stream, matrix);
        expected = times_scale(std::move(expected), stream, config.norm);
        check_close(columns(rows(recorder.at(site)), 3 * head, 3), expected);
      };
      check_part(weights.query, queries(1));
      check_part(weights.key, keys(1));
      check_part(weights.value, values(1));
    }
  }
}

TEST_CASE("bilinear and unscaled scores are queries and keys through their matrices, divided by the root") {
  for (const bool scaled : {true, false}) {
    ModelConfig config = attention_only();
    config.scores = ScoreForm::bilinear;
    config.scaled_scores = scaled;
    const Transformer model = random_model(config);
    Recorder recorder({residual_before(1), pattern(1)});
    evaluate(model, some_batch(), {recorder});
    const Tensor stream = recorder.at(residual_before(1));
    const Index length = stream.shape()[1];
    const HeadWeights head = head_weights(model, 1, 1);
    const auto times = [&](const Tensor& matrix) {
      return Variable(product(rows(stream), matrix).reshaped({stream.shape()[0], length, 3}));
    };
    const Tensor expected = attention_pattern(times(head.query), times(head.key), 1).value();
    const Tensor seen = recorder.at(pattern(1));
    for (Index b = 0; b < stream.shape()[0]; ++b)
      for (Index i = 0; i < length; ++i)
        for (Index j = 0; j < length; ++j)
          CHECK(seen(b, 1, i, j) == doctest::Approx(expected(b, 0, i, j)).epsilon(10 * kRounding));
  }
}

TEST_CASE("where queries and keys are normalised, a head's matrices are its projections alone") {
  ModelConfig config = attention_only();
  config.query_key_norm = true;
  const auto query_of = [&] { return head_weights(random_model(config), 1, 1).query; };
  const Tensor scaled = query_of();
  config.scaled_scores = false;
  CHECK(testing::same_bits(query_of(), scaled));
}

TEST_CASE("heads' outputs through their matrices sum to what attention adds") {
  const Transformer model = random_model(attention_only());
  Recorder recorder({head_output(0), attention_output(0)});
  evaluate(model, some_batch(), {recorder});
  const Tensor outputs = rows(recorder.at(head_output(0)));
  const Tensor first = product(columns(outputs, 0, 3), head_weights(model, 0, 0).output);
  const Tensor second = product(columns(outputs, 3, 3), head_weights(model, 0, 1).output);
  Tensor sum = first;
  for (Index i = 0; i < sum.count(); ++i) sum.data()[i] += second.data()[i];
  check_close(rows(recorder.at(attention_output(0))), sum);
}

TEST_CASE("the stream before the read-out's rows makes the logits, with a final layer norm too") {
  for (const bool tied : {false, true})
    for (ModelConfig config : {attention_only(), with_norms(), with_norms(NormKind::rms)}) {
      config.tied = tied;
      const Transformer model = random_model(config);
      Recorder recorder({residual_after(1), logits_site()});
      evaluate(model, some_batch(), {recorder});
      const Tensor stream = rows(recorder.at(residual_after(1)));
      Tensor read = before_readout(model, stream);
      read = times_scale(std::move(read), stream, config.norm);
      const Tensor readout = parameter_value(model, readout_name(config));
      check_close(rows(recorder.at(logits_site())), product_transposed(read, readout));
      const HeadWeights head = head_weights(model, 1, 1);
      check_close(output_to_logits(model, head),
                  product_transposed(before_readout(model, head.output), readout));
    }
}

TEST_CASE("the factors of layer norms are means over the batch, and 1 where there is none") {
  const Transformer model = random_model(with_norms());
  const Batch batch = some_batch(5);
  const std::vector<double> scales = attention_scales(model, batch, {.threads = 2, .shard = 2});
  CHECK(scales == attention_scales(model, batch, {.shard = 2}));
  REQUIRE(scales.size() == 2);
  for (const Index layer : {0, 1}) {
    Recorder recorder({residual_before(layer)});
    evaluate(model, batch, {recorder});
    const Tensor stream = rows(recorder.at(residual_before(layer)));
    double mean = 0;
    for (Index i = 0; i < 25; ++i) mean += LayerNorm::scale_of({stream.data() + i * 6, 6}) / 25;
    CHECK(scales[static_cast<std::size_t>(layer)] == doctest::Approx(mean).epsilon(kRounding));
  }
  CHECK(attention_scales(random_model(attention_only()), batch) == std::vector<double>{1, 1});

  // A factor multiplies what reads the stream, and not what writes to it.
  const HeadWeights plain = head_weights(model, 0, 1);
  const HeadWeights scaled = all_head_weights(model, {0.5, 2})[1];
  for (Index i = 0; i < plain.query.count(); ++i) {
    CHECK(scaled.query.data()[i] == doctest::Approx(plain.query.data()[i] / 2).epsilon(1e-6));
    CHECK(scaled.value.data()[i] == doctest::Approx(plain.value.data()[i] / 2).epsilon(1e-6));
  }
  CHECK(same_bits(scaled.output, plain.output));
}

TEST_CASE("positions are the first rows of their table, sines, or none") {
  ModelConfig config = attention_only();
  const Transformer learned = random_model(config);
  const Tensor table = parameter_value(learned, "positions.weight");
  const Tensor vectors = position_vectors(learned, 4);
  CHECK(vectors.shape() == Shape{4, 6});
  for (Index i = 0; i < vectors.count(); ++i) CHECK(vectors.data()[i] == table.data()[i]);
  config.positions = Positions::sinusoidal;
  CHECK(same_bits(position_vectors(random_model(config), 4), sinusoids(4, 6)));
  for (const Positions positions : {Positions::alibi, Positions::none}) {
    config.positions = positions;
    CHECK(position_vectors(random_model(config), 4).count() == 0);
  }
}

TEST_CASE("what a model does not have cannot be asked of it") {
  const Transformer model = random_model(attention_only());
  CHECK_THROWS_AS(head_weights(model, 2, 0), Error);
  CHECK_THROWS_AS(head_weights(model, 0, 2), Error);
  CHECK_THROWS_WITH_AS(all_head_weights(model, {1}), doctest::Contains("a scale for each of 2 layers"),
                       Error);
  CHECK_THROWS_AS(position_vectors(model, 11), Error);
  CHECK_THROWS_AS(before_readout(model, Tensor({2, 5})), Error);
  CHECK_THROWS_AS(rows_of(model.parameters().find("embedding.weight"), {7}), Error);
  CHECK_THROWS_AS(product(Tensor({2, 3}), Tensor({2, 3})), Error);
  CHECK_THROWS_AS(product_transposed(Tensor({2, 3}), Tensor({3, 2})), Error);
}
