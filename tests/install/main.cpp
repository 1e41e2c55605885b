/// The README's first example as a program of its own. A test compares the lines between the markers with the
/// README; tests/install/run.sh builds and runs the whole against an installed Tapehead.
#include <tapehead/tapehead.h>

#include <cstdint>
#include <iostream>

using namespace tapehead;

int main() {
  const std::uint64_t seed = 1;
  Generator data(seed);

  // README: begin
  Transformer model({.vocabulary = 64, .context = 64, .width = 64, .heads = 2, .layers = 2}, seed);
  RepeatedSequence task({.vocabulary = 64, .length = 48});
  AdamW optimizer({.learning_rate = 2e-3});
  for (int step = 0; step < 2000; ++step) {
    Batch batch = task.sample(data, 32);
    Tape tape;
    Variable loss = cross_entropy(model(Pass{tape}, batch.inputs), batch.targets);
    optimizer.step(model.parameters(), tape.backward(loss));
  }
  // README: end

  // Equal seeds give equal weights, so this is the model before its first step.
  const Transformer untrained({.vocabulary = 64, .context = 64, .width = 64, .heads = 2, .layers = 2}, seed);
  const Batch fresh = task.sample(data, 32);
  const auto loss_of = [&fresh](const Transformer& transformer) {
    Tape tape;
    return cross_entropy(transformer(Pass{tape}, fresh.inputs), fresh.targets).value().data()[0];
  };
  std::cout << "loss " << loss_of(untrained) << " before, " << loss_of(model) << " after\n";
}
