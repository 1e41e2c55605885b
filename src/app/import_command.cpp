#include <spdlog/spdlog.h>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/base/shell_word.h"
#include "tapehead/exchange/imported_run.h"

namespace tapehead::app {

int import_command(const Words& words) {
  Arguments arguments("import",
                      "Makes a run of a GPT-2 in Hugging Face's layout: a folder with config.json and "
                      "model.safetensors, or a safetensors file with config.json beside it.",
                      "DIR|FILE");
  arguments.options()("out", "the run directory", cxxopts::value<std::string>(), "RUN");
  arguments.options()("set", "another value for one field of the run's config; may be repeated",
                      cxxopts::value<std::vector<std::string>>(), "table.key=value");
  arguments.options()("overwrite", "replace the run that is in the run directory");
  if (!arguments.parse(words)) return 0;
  const std::string from = arguments.positional();
  if (!arguments.has("out") || arguments.text("out").empty())
    throw UsageError("--out is missing: expected the run directory to make");

  const ImportedModel imported = import_gpt2(from);
  for (const std::string& note : imported.notes) spdlog::warn(note);
  const RunDirectory run = create_imported_run(imported, arguments.text("out"), arguments.texts("set"),
                                               arguments.flag("overwrite"));
  spdlog::info("imported {} parameters into {}", grouped(imported.model.parameters().count()),
               run.path().string());
  spdlog::info("next: tapehead heads {0}, tapehead ablate {0}", shell_word(run.path().string()));
  return 0;
}

}  // namespace tapehead::app
