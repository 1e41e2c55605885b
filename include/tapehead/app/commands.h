/// The commands of the program: each takes the words after its name and returns the exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapehead::app {

using Words = std::vector<std::string>;

int train_command(const Words& words);
int fork_command(const Words& words);
int eval_command(const Words& words);
int ablate_command(const Words& words);
int heads_command(const Words& words);
int verdict_command(const Words& words);
int verify_command(const Words& words);
int patch_command(const Words& words);
int lens_command(const Words& words);
int context_command(const Words& words);
int formation_command(const Words& words);
int sweep_command(const Words& words);
int circuits_command(const Words& words);
int plot_command(const Words& words);
int report_command(const Words& words);
int bench_command(const Words& words);
int inspect_command(const Words& words);
int generate_command(const Words& words);
int attention_command(const Words& words);
int tokenizer_command(const Words& words);
int import_command(const Words& words);
int export_command(const Words& words);

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Words& words);
  bool joint = false;  ///< several ranks of a job may work on it together
};

/// All of them, in the order in which a newcomer meets them.
const std::vector<Command>& commands();

}  // namespace tapehead::app
