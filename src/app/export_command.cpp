#include <spdlog/spdlog.h>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/base/require.h"
#include "tapehead/exchange/export.h"
#include "tapehead/text/tokenizer.h"

namespace tapehead::app {

namespace {

Arguments export_arguments() {
  Arguments arguments("export", "Writes a run's model for other programs, into a new folder.", "RUN");
  std::string formats;
  for (const ExportFormat& format : export_formats())
    formats += fmt::format("  {:16} {}\n", format.name, format.summary);
  arguments.options()("format", "one of those below", cxxopts::value<std::string>(), "FORMAT");
  arguments.options()("out", "the folder to write into", cxxopts::value<std::string>(), "DIR");
  add_step_option(arguments);
  arguments.epilogue("\nFormats:\n" + formats);
  return arguments;
}

}  // namespace

int export_command(const Words& words) {
  Arguments arguments = export_arguments();
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  for (const char* option : {"format", "out"})
    if (!arguments.has(option) || arguments.text(option).empty())
      throw UsageError(fmt::format("--{} is missing; see tapehead export --help", option));

  const Checkpoint checkpoint = chosen_checkpoint(arguments, run);
  std::unique_ptr<Tokenizer> tokenizer;
  if (is_tokenizer_folder(run.tokenizer_folder())) tokenizer = load_tokenizer(run.tokenizer_folder());
  const std::string note = export_model(checkpoint.model, arguments.text("format"), arguments.text("out"));
  if (tokenizer != nullptr) tokenizer->save(arguments.text("out"));
  spdlog::info("wrote the model of step {} into {}", checkpoint.step, arguments.text("out"));
  if (!note.empty()) spdlog::info(note);
  return 0;
}

}  // namespace tapehead::app
