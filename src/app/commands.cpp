#include "tapehead/app/commands.h"

namespace tapehead::app {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"train", "train a model as a config says", train_command, true},
      {"eval", "losses and accuracies by kind of position", eval_command},
      {"verdict", "by what mechanism the model copies, with the evidence", verdict_command},
      {"ablate", "what the loss does when a head is taken out", ablate_command},
      {"heads", "what every head looks at", heads_command},
      {"patch", "what of a clean run restores a corrupted one", patch_command},
      {"circuits", "what heads do by their weights, and what adds to a logit", circuits_command},
      {"lens", "what could be read out after every layer", lens_command},
      {"context", "how much less a token costs late in a sequence than early", context_command},
      {"formation", "when the heads formed, and in what order things moved", formation_command},
      {"plot", "draw a run's figures", plot_command},
      {"report", "write a run as one page to explore in a browser", report_command},
      {"fork", "go on from a run's checkpoint, with something changed", fork_command, true},
      {"sweep", "train a config with many seeds, side by side", sweep_command, true},
      {"verify", "train a run again, and recompute its tables", verify_command},
      {"inspect", "parameters by name, operations and memory of a step", inspect_command},
      {"bench", "how fast a config trains, and where the time goes", bench_command, true},
      {"generate", "let a run's model go on with a text", generate_command},
      {"attention", "what each token of a sequence or text looks at", attention_command},
      {"tokenizer", "learn a vocabulary for byte-pair encoding from a text", tokenizer_command},
      {"import", "make a run of somebody else's GPT-2", import_command},
      {"export", "write a run's model for other programs", export_command},
  };
  return all;
}

}  // namespace tapehead::app
