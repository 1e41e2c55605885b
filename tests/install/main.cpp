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
  // A round trip through a file, which takes every library that the package has to bring along.
  const Config config{.model = model.config(), .task = {}, .train = {}};
  save_checkpoint("example.safetensors", config, model, optimizer, 2000);
  const Checkpoint loaded = load_checkpoint("example.safetensors");
  if (loss_of(loaded.model) != loss_of(model)) return 1;

  // What the README says of an intervention.
  Edits edits;
  edits.zero(head_output(0, 1));
  Recorder recorder({pattern(0), pattern(1)});
  const Evaluation ablated = evaluate(model, fresh, {edits, recorder});
  if (!(ablated.loss(Kind::induction) > 0) || recorder.at(pattern(1)).shape() != Shape{32, 2, 48, 48})
    return 1;

  std::cout << "loss " << loss_of(untrained) << " before, " << loss_of(model) << " after\n";
}
