#include "tapehead/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "support/folder.h"
#include "support/functions.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/base/require.h"
#include "tapehead/train/evaluate.h"
#include "tapehead/train/schedule.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

std::vector<double> losses_of(Trainer& trainer, int steps) {
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) losses.push_back(trainer.advance().loss);
  return losses;
}

void save(const Trainer& trainer, const std::filesystem::path& file) {
  save_checkpoint(file, trainer.config(), trainer.model(), trainer.optimizer(), trainer.step());
}

Index calls_of(const Profile& profile, std::string_view name) {
  for (const Profile::Entry& entry : profile.entries())
    if (entry.name == name) return entry.calls;
  return 0;
}

/// One plain step downhill, so that the parameters move by exactly the gradient.
Config descent_config() {
  Config config = tiny_config();
  config.model.dropout = 0;
  config.train.optimizer = "sgd";
  config.train.learning_rate = 1;
  config.train.momentum = 0;
  config.train.weight_decay = 0;
  config.train.warmup = 0;
  config.train.schedule = "constant";
  config.train.clip = 0;
  return config;
}

/// The parameters before the first step less those after it.
Tensor first_move(const Config& config) {
  Trainer trainer(config, 1);
  Tensor move = values_of(trainer.model().parameters());
  trainer.advance();
  for (Index i = 0; i < move.count(); ++i) move(i) -= trainer.model().parameters().data()[i];
  return move;
}

}  // namespace

TEST_CASE("a run has the same bits on any number of threads, and each time") {
  Trainer first(tiny_config(), 1);
  const std::vector<double> losses = losses_of(first, 6);
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    Trainer again(tiny_config(), threads);
    CHECK(losses_of(again, 6) == losses);
    CHECK(same_bits(again, first));
  }
}

TEST_CASE("a profile changes no bit of a run, and counts what every step did") {
  Trainer plain(tiny_config(), 1);
  const std::vector<double> losses = losses_of(plain, 3);
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    Trainer trainer(tiny_config(), threads);
    Profile profile;
    for (const double loss : losses) CHECK(trainer.advance(&profile).loss == loss);
    CHECK(same_bits(trainer, plain));
    // Three steps of four shards.
    CHECK(calls_of(profile, "cross_entropy") == 12);
    CHECK(calls_of(profile, "attention_pattern") == 2 * 12);
    for (const char* name : {"batch", "reduce", "optimizer"}) {
      CAPTURE(name);
      CHECK(calls_of(profile, name) == 3);
    }
  }
}

TEST_CASE("a step's operations are those of its matrix products by formula, however it is cut into shards") {
  for (const Index feed_forward : {0, 12})
    for (const Index layers : {0, 1, 3})
      for (const Index shard : {2, 100}) {
        Config config = tiny_config();
        config.model.feed_forward = feed_forward;
        config.model.layers = layers;
        config.train.shard = shard;
        CAPTURE(feed_forward);
        CAPTURE(layers);
        CAPTURE(shard);
        // Each product goes forward once and back twice, at two operations for a number of a matrix.
        const Index width = config.model.width, positions = config.train.batch * config.task.length;
        const Index matrices =
            layers * (4 * width * width + 2 * feed_forward * width) + config.model.vocabulary * width;
        const Index attention = layers * 2 * config.task.length * width;
        CHECK(Trainer(config, 2).advance().operations == 6 * positions * (matrices + attention));
      }
}

TEST_CASE("each seed changes the run, and only what it is for") {
  Config config = tiny_config();
  const Trainer fresh(config, 1);
  Trainer trained(config, 1);
  losses_of(trained, 2);
  for (std::uint64_t TrainConfig::*seed :
       {&TrainConfig::initialisation_seed, &TrainConfig::data_seed, &TrainConfig::dropout_seed}) {
    Config other = config;
    other.train.*seed = 2;
    Trainer trainer(other, 1);
    CHECK(same_bits(trainer.model().parameters(), fresh.model().parameters()) ==
          (seed != &TrainConfig::initialisation_seed));
    CHECK(evaluation_batch(other).inputs == evaluation_batch(config).inputs);
    losses_of(trainer, 2);
    CHECK_FALSE(same_bits(trainer.model().parameters(), trained.model().parameters()));
  }
  config.train.evaluation_seed = 2;
  CHECK(evaluation_batch(config).inputs != evaluation_batch(tiny_config()).inputs);
  Trainer trainer(config, 1);
  losses_of(trainer, 2);
  CHECK(same_bits(trainer, trained));
}

TEST_CASE("without dropout the dropout seed changes nothing") {
  Config config = tiny_config();
  config.model.dropout = 0;
  Trainer first(config, 1);
  config.train.dropout_seed = 2;
  Trainer second(config, 1);
  CHECK(losses_of(first, 3) == losses_of(second, 3));
  CHECK(same_bits(first, second));
}

TEST_CASE(
    "every shard of every step draws its own dropout, from the stream of dropout seed, step and shard") {
  Config config = tiny_config();
  config.model.dropout = 0.5;
  config.train.learning_rate = 0;
  Trainer trainer(config, 2);
  for (Index step = 0; step < 2; ++step) {
    Generator data(config.train.data_seed, Purpose::data, step);
    const Batch batch = trainer.task().sample(data, config.train.batch);
    double total = 0;
    for (Index first = 0; first < batch.size(); first += config.train.shard) {
      const Batch part = batch.rows(first, std::min(config.train.shard, batch.size() - first));
      Tape tape;
      Pass pass(tape,
                Generator(config.train.dropout_seed, Purpose::dropout, step, first / config.train.shard));
      total += static_cast<double>(cross_entropy(trainer.model()(pass, part.inputs), part.targets).item()) *
               static_cast<double>(part.size());
    }
    CHECK(trainer.advance().loss ==
          doctest::Approx(total / static_cast<double>(batch.size())).epsilon(kRounding));
  }
}

TEST_CASE("a step's loss is the cross entropy of the batch of its data seed and step, before the update") {
  const Config config = descent_config();
  Trainer trainer(config, 1);
  for (Index step = 0; step < 3; ++step) {
    Generator data(config.train.data_seed, Purpose::data, step);
    const Batch batch = trainer.task().sample(data, config.train.batch);
    const Real expected = cross_entropy(trainer.model()(Pass(), batch.inputs), batch.targets).item();
    CHECK(trainer.step() == step);
    CHECK(trainer.advance().loss == doctest::Approx(static_cast<double>(expected)).epsilon(kRounding));
  }
}

TEST_CASE("unequal shards have the gradient and the loss of the whole batch") {
  Config config = descent_config();
  Generator data(config.train.data_seed, Purpose::data, 0);
  const Batch batch = make_task(config.task, config.model.vocabulary)->sample(data, config.train.batch);
  const Transformer model(config.model, config.train.initialisation_seed);
  Tape tape;
  const Variable loss = cross_entropy(model(Pass(tape), batch.inputs), batch.targets);
  const double expected_loss = static_cast<double>(loss.item());
  Gradients gradients = tape.backward(loss);
  const double expected_norm = clip_norm(gradients, 0);
  for (const Index shard : {1, 2, 3, 7, 100}) {
    CAPTURE(shard);
    config.train.shard = shard;
    check_close(first_move(config), gradients);
    const Trainer::StepReport report = Trainer(config, 1).advance();
    CHECK(report.loss == doctest::Approx(expected_loss).epsilon(kRounding));
    CHECK(report.gradient_norm == doctest::Approx(expected_norm).epsilon(kRounding));
  }
}

TEST_CASE("the gradient's norm is reported as it was, and clipped before the update") {
  Config config = descent_config();
  const double norm = Trainer(config, 1).advance().gradient_norm;
  config.train.clip = norm / 4;
  CHECK(Trainer(config, 1).advance().gradient_norm == norm);
  Tensor move = first_move(config);
  CHECK(clip_norm(move, 0) == doctest::Approx(norm / 4).epsilon(1e-4));
}

TEST_CASE("every update has the rate of its schedule") {
  const Config config = tiny_config();
  Trainer trainer(config, 1);
  for (Index step = 0; step < config.train.steps; ++step) {
    CHECK(trainer.advance().learning_rate == scheduled_rate(config.train, step));
    CHECK(trainer.optimizer().learning_rate() == scheduled_rate(config.train, step));
  }
}

TEST_CASE("the optimizer is the one that the config names, with the config's numbers") {
  Config config = descent_config();
  config.train.learning_rate = 0.1;
  config.train.weight_decay = 0.3;
  const auto trained = [&](const char* name) {
    config.train.optimizer = name;
    Trainer trainer(config, 1);
    losses_of(trainer, 2);
    return values_of(trainer.model().parameters());
  };
  const auto by_hand = [&](Optimizer&& optimizer) {
    Transformer model(config.model, config.train.initialisation_seed);
    for (Index step = 0; step < 2; ++step) {
      Generator data(config.train.data_seed, Purpose::data, step);
      const Batch batch = make_task(config.task, config.model.vocabulary)->sample(data, config.train.batch);
      Tape tape;
      optimizer.step(model.parameters(),
                     tape.backward(cross_entropy(model(Pass(tape), batch.inputs), batch.targets)));
    }
    return values_of(model.parameters());
  };
  // A key's bias has no gradient but rounding, which Adam would blow up to full steps.
  config.model.qkv_bias = false;
  config.train.shard = config.train.batch;
  config.train.momentum = 0.5;
  config.train.betas = {0.8, 0.95};
  config.train.epsilon = 1e-3;
  const AdamConfig adam{
      .learning_rate = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.3};
  check_close(trained("sgd"), by_hand(Sgd({.learning_rate = 0.1, .momentum = 0.5, .weight_decay = 0.3})),
              1e-4);
  check_close(trained("adam"), by_hand(Adam(adam)), 1e-4);
  check_close(trained("adamw"), by_hand(AdamW(adam)), 1e-4);
}

TEST_CASE("six steps straight are three, a save, a load and three, bit by bit, with dropout and threads") {
  const Folder folder;
  for (const char* optimizer : {"adamw", "adam", "sgd"}) {
    CAPTURE(optimizer);
    Config config = tiny_config();
    config.train.optimizer = optimizer;
    Trainer straight(config, 1);
    const std::vector<double> losses = losses_of(straight, 6);

    Trainer interrupted(config, 2);
    losses_of(interrupted, 3);
    save(interrupted, folder / "three.safetensors");
    for (const int threads : {1, 2, 5}) {
      CAPTURE(threads);
      Trainer resumed(folder / "three.safetensors", threads);
      CHECK(resumed.config() == config);
      CHECK(resumed.step() == 3);
      CHECK(resumed.threads() == threads);
      CHECK(same_bits(resumed, interrupted));
      CHECK(losses_of(resumed, 3) == std::vector<double>(losses.begin() + 3, losses.end()));
      CHECK(same_bits(resumed, straight));
    }
    // Nor does saving change the run that is saved.
    CHECK(losses_of(interrupted, 3) == std::vector<double>(losses.begin() + 3, losses.end()));
    CHECK(same_bits(interrupted, straight));
  }
}

TEST_CASE("a run resumed before its first step is the run from the start") {
  const Folder folder;
  Trainer straight(tiny_config(), 1);
  save(straight, folder / "zero.safetensors");
  Trainer resumed(folder / "zero.safetensors", 1);
  CHECK(resumed.step() == 0);
  CHECK(losses_of(resumed, 3) == losses_of(straight, 3));
  CHECK(same_bits(resumed, straight));
}

TEST_CASE("a loss that is not finite stops the step, names it, and leaves the parameters as they were") {
  const Folder folder;
  const Config config = tiny_config();
  Trainer healthy(config, 1);
  losses_of(healthy, 2);
  Transformer broken(config.model, 1);
  broken.parameters().change()[0] = std::numeric_limits<Real>::quiet_NaN();
  save_checkpoint(folder / "broken.safetensors", config, broken, healthy.optimizer(), 2);

  Trainer trainer(folder / "broken.safetensors", 2);
  CHECK(failure_of([&] { trainer.advance(); }) ==
        "[train] the loss is not finite at step 3, shard 0: the update before left a number in "
        "embedding.weight "
        "that is not finite; a smaller learning rate may help");
  CHECK(same_bits(trainer.model().parameters(), broken.parameters()));
  CHECK(trainer.step() == 2);
  CHECK(same_bits(trainer.optimizer(), healthy.optimizer()));
}

TEST_CASE("a gradient that is not finite stops the step and leaves the parameters as they were") {
  const Folder folder;
  Config config = descent_config();
  config.model = {.vocabulary = 8, .context = 12, .width = 8, .heads = 1, .layers = 1};
  Transformer model(config.model, 1);
  const std::span<Real> values = model.parameters().change();
  const auto at = [&](const char* name, Index row, Index column) -> Real& {
    return values[static_cast<std::size_t>(model.parameters().find(name).offset + row * 8 + column)];
  };
  // Values are huge and so is what reads coordinate 7, but nothing is written there, and every logit is 0.
  // The gradient of the matrix that could write there is the product of the two.
  const Real huge = std::sqrt(std::numeric_limits<Real>::max()) * Real(1e3);
  std::fill(values.begin(), values.end(), Real(0));
  for (Index token = 0; token < 8; ++token) at("embedding.weight", token, 0) = 1;
  at("blocks.0.attention.qkv.weight", 2 * 8, 0) = huge;
  at("unembedding.weight", 0, 7) = huge;
  save_checkpoint(folder / "a.safetensors", config, model, Sgd({}), 0);

  Trainer trainer(folder / "a.safetensors", 1);
  CHECK(evaluate(trainer.model(), evaluation_batch(config)).loss() == doctest::Approx(std::log(8.0)));
  CHECK(failure_of([&] { trainer.advance(); }) ==
        "[train] the gradient is not finite at step 1, shard 0: the backward pass of linear, the op that "
        "leads to "
        "blocks.0.attention.output, made the first; a smaller learning rate may help");
  CHECK(same_bits(trainer.model().parameters(), model.parameters()));
  CHECK(trainer.step() == 0);
}

TEST_CASE("evaluation data come from their own seed, always the same, and are not those of training") {
  const Config config = tiny_config();
  const Batch batch = evaluation_batch(config);
  CHECK(batch.size() == config.train.evaluation_sequences);
  CHECK(batch.inputs == evaluation_batch(config).inputs);
  REQUIRE(config.train.evaluation_seed == config.train.data_seed);
  Generator data(config.train.data_seed, Purpose::data, 0);
  const Batch trained_on =
      make_task(config.task, config.model.vocabulary)->sample(data, config.train.evaluation_sequences);
  CHECK(batch.inputs != trained_on.inputs);
  for (Index b = 0; b < batch.size(); ++b) CHECK(batch.inputs.rows(b, 1) != trained_on.inputs.rows(b, 1));
}

TEST_CASE("a config that is not valid makes no trainer, and no threads train nothing") {
  Config config = tiny_config();
  config.model.heads = 3;
  CHECK_THROWS_AS(Trainer(config, 1), UsageError);
  Trainer trainer(tiny_config(), 0);
  CHECK_THROWS_AS(trainer.advance(), Error);
  CHECK(trainer.step() == 0);
}

TEST_CASE("one layer learns a fixed period, and two layers start on repeated segments, within moments") {
  Config config;
  config.model = {.vocabulary = 16, .context = 16, .width = 16, .heads = 2, .layers = 1};
  config.task.name = "fixed_period_sequence";
  config.task.length = 16;
  config.task.period = 4;
  config.train.learning_rate = 1e-2;
  Trainer one_layer(config, 2);
  CHECK(evaluate(one_layer.model(), evaluation_batch(config)).loss(Kind::induction) > std::log(16.0));
  losses_of(one_layer, 150);
  CHECK(evaluate(one_layer.model(), evaluation_batch(config)).accuracy(Kind::induction) > 0.95);

  config.model.layers = 2;
  config.task.name = "repeated_sequence";
  config.task.period_min = 3;
  config.task.period_max = 8;
  Trainer two_layers(config, 2);
  CHECK(evaluate(two_layers.model(), evaluation_batch(config)).loss(Kind::induction) > std::log(16.0));
  losses_of(two_layers, 150);
  CHECK(evaluate(two_layers.model(), evaluation_batch(config)).loss(Kind::induction) < 2.2);
}
