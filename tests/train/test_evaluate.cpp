#include "tapehead/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <vector>

#include "support/functions.h"
#include "support/ranks.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr Kind N = Kind::noise;
constexpr Kind I = Kind::induction;

/// A model without layers over 4 tokens, whose logit of token v after token x is score(v, x).
Transformer bigram_model(const std::function<double(Index, Index)>& score) {
  Transformer model(
      {.vocabulary = 4, .context = 6, .width = 4, .heads = 1, .layers = 0, .positions = Positions::none}, 1);
  const std::span<Real> values = model.parameters().change();
  Real* embedding = values.data() + model.parameters().find("embedding.weight").offset;
  Real* unembedding = values.data() + model.parameters().find("unembedding.weight").offset;
  for (Index v = 0; v < 4; ++v)
    for (Index x = 0; x < 4; ++x) {
      embedding[v * 4 + x] = v == x ? 1 : 0;
      unembedding[v * 4 + x] = static_cast<Real>(score(v, x));
    }
  return model;
}

Batch batch_of(const Tokens& inputs, const Tokens& targets, const Table<Kind>& kinds) {
  return {inputs, targets, kinds, Tokens(inputs.batch(), inputs.length(), -1)};
}

/// Where the passes of an evaluation began; leaves every value alone.
class ShardWatcher : public Watcher {
 public:
  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    const std::lock_guard lock(mutex_);
    firsts_.insert(at.first_sequence);
    return value;
  }
  void finish(const std::vector<Site>&) const override {}
  const std::set<Index>& firsts() const { return firsts_; }

 private:
  std::mutex mutex_;
  std::set<Index> firsts_;
};

/// Puts the same numbers in place of all logits.
class LogitsWatcher : public Watcher {
 public:
  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    return at.site == logits_site() ? value * Variable(Tensor(value.shape())) : value;
  }
  void finish(const std::vector<Site>&) const override {}
};

/// What entered layer 1; leaves every value alone.
class EntranceWatcher : public Watcher {
 public:
  explicit EntranceWatcher(const Shape& shape) : residual_(shape) {}
  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    if (at.site == residual_before(1))
      std::copy_n(value.data(), value.shape().count(),
                  residual_.data() + at.first_sequence * value.shape()[1] * value.shape()[2]);
    return value;
  }
  void finish(const std::vector<Site>&) const override {}
  const Tensor& residual() const { return residual_; }

 private:
  Tensor residual_;
};

bool same_result(const Evaluation& a, const Evaluation& b) {
  return same_bits(a.losses, b.losses) && same_bits(a.hits, b.hits) && a.kinds == b.kinds;
}

}  // namespace

TEST_CASE("means count the positions of their kind alone, in the sum and in the divisor") {
  const Evaluation evaluation{Tensor({2, 3}, {2, 1, 3, 6, 9, 9}), Tensor({2, 3}, {1, 0, 0, 1, 1, 0}),
                              Table<Kind>(2, 3, {I, I, I, I, N, N})};
  CHECK(evaluation.loss(I) == 3.0);
  CHECK(evaluation.loss(N) == 9.0);
  CHECK(evaluation.loss() == 5.0);
  CHECK(evaluation.accuracy(I) == 0.5);
  CHECK(evaluation.accuracy(N) == 0.5);
  CHECK(evaluation.accuracy() == 0.5);
  CHECK(evaluation.loss_by_sequence() == std::vector<double>{2, 8});
  CHECK(evaluation.loss_by_sequence(I) == std::vector<double>{2, 6});
  CHECK(evaluation.accuracy_by_sequence(I) == std::vector<double>{1.0 / 3, 1});
}

TEST_CASE("a kind without positions has no mean: NaN, over all and by sequence") {
  const Evaluation evaluation{Tensor({2, 2}, {1, 2, 3, 4}), Tensor({2, 2}, {1, 1, 0, 0}),
                              Table<Kind>(2, 2, {N, N, N, I})};
  const std::vector<double> losses = evaluation.loss_by_sequence(I);
  REQUIRE(losses.size() == 2);
  CHECK(std::isnan(losses[0]));
  CHECK(losses[1] == 4.0);
  CHECK(std::isnan(evaluation.accuracy_by_sequence(I)[0]));

  const Evaluation noise{evaluation.losses, evaluation.hits, Table<Kind>(2, 2, N)};
  CHECK(std::isnan(noise.loss(I)));
  CHECK(std::isnan(noise.accuracy(I)));
  CHECK(noise.loss(N) == 2.5);
}

TEST_CASE("losses and hits are those of the logits, position by position") {
  // After x the model expects x + 1, with a logit of 2 against 0.
  const Transformer model = bigram_model([](Index v, Index x) { return v == (x + 1) % 4 ? 2.0 : 0.0; });
  const Batch batch =
      batch_of(Tokens(2, 3, {0, 1, 2, 3, 3, 0}), Tokens(2, 3, {1, 2, 0, 0, 1, 3}), Table<Kind>(2, 3, I));
  const Evaluation evaluation = evaluate(model, batch);
  const double total = std::log(std::exp(2.0) + 3);
  check_close(evaluation.losses, {2, 3}, {total - 2, total - 2, total, total - 2, total, total});
  check_close(evaluation.hits, {2, 3}, {1, 1, 0, 1, 0, 0}, 0);
  CHECK(evaluation.kinds == batch.kinds);
}

TEST_CASE("of equal logits the first counts as the model's choice") {
  const Transformer model = bigram_model([](Index v, Index x) { return x == 3 && v >= 2 ? 1.0 : 0.0; });
  const Batch batch = batch_of(Tokens(1, 4, {0, 1, 3, 3}), Tokens(1, 4, {0, 1, 2, 3}), Table<Kind>(1, 4, N));
  const Evaluation evaluation = evaluate(model, batch);
  check_close(evaluation.hits, {1, 4}, {1, 0, 1, 0}, 0);
  CHECK(static_cast<double>(evaluation.losses(0, 0)) == doctest::Approx(std::log(4.0)).epsilon(1e-6));
}

TEST_CASE("the overall loss is the cross entropy that training minimises") {
  Config config = tiny_config();
  config.model.dropout = 0;
  const Transformer model(config.model, 3);
  const Batch batch = evaluation_batch(config);
  const Real trained_on = cross_entropy(model(Pass(), batch.inputs), batch.targets).item();
  CHECK(evaluate(model, batch).loss() == doctest::Approx(static_cast<double>(trained_on)).epsilon(kRounding));
}

TEST_CASE("an evaluation has the same bits on any number of threads") {
  const Config config = tiny_config();
  const Transformer model(config.model, 3);
  const Batch batch = evaluation_batch(config);
  const Evaluation alone = evaluate(model, batch, {}, {.threads = 1, .shard = 2});
  for (const int threads : {2, 5})
    CHECK(same_result(evaluate(model, batch, {}, {.threads = threads, .shard = 2}), alone));
}

TEST_CASE("an evaluation is the same to rounding for any size of its shards") {
  const Config config = tiny_config();
  const Transformer model(config.model, 3);
  const Batch batch = evaluation_batch(config);
  const Evaluation whole = evaluate(model, batch, {}, {.shard = 9});
  for (const Index shard : {1, 2, 4, 100}) {
    CAPTURE(shard);
    check_close(evaluate(model, batch, {}, {.shard = shard}).losses, whole.losses);
  }
}

TEST_CASE("an evaluation draws no dropout and changes no parameter") {
  Config config = tiny_config();
  config.model.dropout = 0.5;
  const Transformer dropping(config.model, 3);
  config.model.dropout = 0;
  const Transformer plain(config.model, 3);
  const Batch batch = evaluation_batch(config);
  const Tensor before = values_of(dropping.parameters());
  CHECK(same_result(evaluate(dropping, batch), evaluate(plain, batch)));
  CHECK(same_bits(values_of(dropping.parameters()), before));
}

TEST_CASE("watchers see every shard, and know where in the batch it lies") {
  const Config config = tiny_config();
  const Transformer model(config.model, 3);
  const Batch batch = evaluation_batch(config);
  ShardWatcher watcher;
  const Evaluation watched = evaluate(model, batch, {watcher}, {.threads = 2, .shard = 4});
  CHECK(watcher.firsts() == std::set<Index>{0, 4, 8});
  CHECK(same_result(watched, evaluate(model, batch, {}, {.shard = 4})));
}

TEST_CASE("what a watcher puts in place of the logits is what counts") {
  const Transformer model = bigram_model([](Index v, Index x) { return v == x ? 5.0 : 0.0; });
  const Batch batch = batch_of(Tokens(1, 2, {1, 2}), Tokens(1, 2, {1, 0}), Table<Kind>(1, 2, N));
  LogitsWatcher watcher;
  const Evaluation evaluation = evaluate(model, batch, {watcher});
  check_close(evaluation.losses, {1, 2}, {std::log(4.0), std::log(4.0)});
  check_close(evaluation.hits, {1, 2}, {0, 1}, 0);
}

TEST_CASE("an evaluation from a layer on gives the bits of the whole, in shards and on threads") {
  const Config config = tiny_config();
  const Transformer model(config.model, 3);
  const Batch batch = evaluation_batch(config);
  EntranceWatcher entrance({batch.size(), batch.length(), config.model.width});
  const Evaluation whole = evaluate(model, batch, {entrance}, {.shard = 4});
  for (const int threads : {1, 3})
    CHECK(same_result(
        evaluate_from(model, batch, 1, entrance.residual(), {}, {.threads = threads, .shard = 4}), whole));
  CHECK_THROWS_WITH_AS(evaluate_from(model, batch.rows(0, 1), 1, entrance.residual()),
                       doctest::Contains("[evaluate] expected a residual (1, "), Error);
}

TEST_CASE("a batch without sequences, targets outside the vocabulary and wrong options are errors") {
  const Transformer model = bigram_model([](Index, Index) { return 0.0; });
  const auto with_target = [](std::int32_t target) {
    return batch_of(Tokens(1, 2, {0, 1}), Tokens(1, 2, {0, target}), Table<Kind>(1, 2, N));
  };
  CHECK_THROWS_WITH_AS(evaluate(model, with_target(4)), "[evaluate] expected targets from 0 to 3, got 4",
                       Error);
  CHECK_THROWS_WITH_AS(evaluate(model, with_target(kIgnored)),
                       "[evaluate] expected targets from 0 to 3, got -1", Error);
  CHECK_THROWS_WITH_AS(evaluate(model, with_target(1).rows(0, 0)), "[evaluate] a batch without sequences",
                       Error);
  CHECK_THROWS_WITH_AS(evaluate(model, with_target(1), {}, {.shard = 0}),
                       "[evaluate] expected shards of at least 1 sequence, got 0", Error);
  CHECK_THROWS_AS(evaluate(model, with_target(1), {}, {.threads = 0}), Error);
}

TEST_CASE("ranks share an evaluation, which rank 0 has whole, to the bit, however many there are") {
  Config config = tiny_config();
  const Transformer model(config.model, 3);
  config.train.evaluation_sequences = 41;
  const Batch batch = evaluation_batch(config);
  const Evaluation alone = evaluate(model, batch, {}, {.shard = 4});
  for (const int count : {2, 3, 5, 20})
    check_on_ranks(count, [&](Ranks& ranks) {
      const Evaluation shared = evaluate(model, batch, {}, {.shard = 4, .ranks = &ranks});
      if (ranks.leads()) CHECK(same_bits(shared.losses, alone.losses));
      if (ranks.leads()) CHECK(same_bits(shared.hits, alone.hits));
    });
}

TEST_CASE("a watcher that does not bring together what ranks have seen is an error on several ranks alone") {
  Config config = tiny_config();
  const Transformer model(config.model, 3);
  const Batch batch = evaluation_batch(config);
  const std::vector<std::string> complaints = on_ranks(2, [&](Ranks& ranks) {
    Recorder recorder({embedding_site()});
    evaluate(model, batch, {recorder}, {.ranks = &ranks});
  });
  for (const std::string& complaint : complaints)
    CHECK(complaint == "[pass] a watcher of a pass on several ranks does not bring together what it saw");
}
