/// Training agrees with PyTorch's, step by step, from the same weights on the same batches: see
/// tests/golden/README.md.
#include <algorithm>
#include <cmath>
#include <vector>

#include "support/testing.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tensor/safetensors.h"
#include "tapehead/train/config.h"
#include "tapehead/train/optimizer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// One archive of tests/golden: a model with PyTorch's starting weights, and what happened to it there.
struct Golden {
  explicit Golden(const std::string& name)
      : archive(std::string(TAPEHEAD_SOURCE_DIR) + "/tests/golden/" + name + ".safetensors"),
        config(parse_config(archive.metadata().at("config"), name)),
        model(config.model, 0) {
    const std::span<Real> values = model.parameters().change();
    for (const Parameters::Entry& entry : model.parameters().entries()) {
      const Tensor start = archive.read(entry.name);
      REQUIRE(to_string(start.shape()) == to_string(entry.shape));
      std::copy_n(start.data(), start.count(), values.begin() + entry.offset);
    }
  }

  /// The ids that the batch of `step` has from position `first` of its T + 1 on, (B, T).
  Tokens ids(Index step, Index first) const {
    const Tensor tokens = archive.read("tokens");
    Tokens table(tokens.shape()[1], tokens.shape()[2] - 1);
    for (Index b = 0; b < table.batch(); ++b)
      for (Index t = 0; t < table.length(); ++t)
        table(b, t) = static_cast<std::int32_t>(tokens(step, b, t + first));
    return table;
  }

  /// Trains to the end; the loss before each update.
  std::vector<double> train() {
    const TrainConfig& recipe = config.train;
    AdamW optimizer({.learning_rate = recipe.learning_rate,
                     .beta1 = recipe.betas[0],
                     .beta2 = recipe.betas[1],
                     .epsilon = recipe.epsilon,
                     .weight_decay = recipe.weight_decay});
    std::vector<double> losses;
    for (Index step = 0; step < recipe.steps; ++step) {
      Tape tape;
      const Variable loss = cross_entropy(model(Pass(tape), ids(step, 0)), ids(step, 1));
      Gradients gradients = tape.backward(loss);
      clip_norm(gradients, recipe.clip);
      optimizer.step(model.parameters(), gradients);
      losses.push_back(static_cast<double>(loss.item()));
    }
    return losses;
  }

  SafetensorsFile archive;
  Config config;
  Transformer model;
};

void check_losses(const std::vector<double>& losses, const Tensor& expected, double tolerance) {
  REQUIRE(expected.count() == 50);
  REQUIRE(losses.size() == 50);
  for (Index step = 0; step < 50; ++step) {
    CAPTURE(step);
    const double ours = losses[static_cast<std::size_t>(step)];
    const double theirs = static_cast<double>(expected(step));
    CAPTURE(ours);
    CAPTURE(theirs);
    CHECK(std::abs(ours - theirs) <= tolerance);
  }
}

const std::vector<std::string> kModels{"attention_only", "everything_on"};

}  // namespace

TEST_CASE("a model with PyTorch's weights has PyTorch's logits") {
  for (const std::string& name : kModels) {
    CAPTURE(name);
    const Golden golden(name);
    check_close(golden.model(Pass(), golden.ids(0, 0)).value(), golden.archive.read("logits"), 1e-5);
  }
}

TEST_CASE("fifty steps of training have PyTorch's loss at every step") {
  for (const std::string& name : kModels) {
    CAPTURE(name);
    Golden golden(name);
    check_losses(golden.train(), golden.archive.read("losses"), 1e-4);
  }
}

DOUBLE_TEST_CASE("fifty steps of training in double have the loss of PyTorch in double") {
  // PyTorch clips to the limit over the norm plus 1e-6, which moves every later loss a little.
  for (const std::string& name : kModels) {
    CAPTURE(name);
    Golden golden(name);
    check_losses(golden.train(), golden.archive.read("losses_float64"), 1e-6);
  }
}
