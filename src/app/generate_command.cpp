#include <spdlog/spdlog.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/commands.h"
#include "tapehead/app/interrupt.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/token_text.h"
#include "tapehead/base/require.h"
#include "tapehead/text/writer.h"

namespace tapehead::app {

namespace {

Arguments generate_arguments() {
  Arguments arguments("generate", "Lets a run's model go on with a text, token by token as they come.",
                      "RUN");
  arguments.options()("prompt",
                      "the text to go on with (empty: an end of text, where the tokenizer has one); for a "
                      "run without a tokenizer, token ids",
                      cxxopts::value<std::string>(), "TEXT");
  arguments.options()("tokens", "how many to write (default: 200); an end of text ends it before",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("temperature", "logits are divided by it; 0 takes the likeliest token (default: 1)",
                      cxxopts::value<std::string>(), "X");
  arguments.options()("top-k", "draw from the k likeliest tokens only", cxxopts::value<std::string>(), "K");
  arguments.options()("top-p", "draw from the fewest likeliest tokens that together have this chance",
                      cxxopts::value<std::string>(), "P");
  arguments.options()("seed", "equal seeds write equal texts (default: 1)", cxxopts::value<std::string>(),
                      "N");
  arguments.options()("specials", "take <|endoftext|> in the prompt for the token of that name");
  add_step_option(arguments);
  arguments.add_json();
  return arguments;
}

WriterConfig writer_config(const Arguments& arguments, Index vocabulary) {
  WriterConfig config;
  config.vocabulary = vocabulary;
  if (arguments.has("temperature")) config.sampling.temperature = arguments.real("temperature");
  if (arguments.has("top-k")) config.sampling.top_k = arguments.number("top-k", 1);
  if (arguments.has("top-p")) config.sampling.top_p = arguments.real("top-p");
  if (arguments.has("seed")) config.seed = static_cast<std::uint64_t>(arguments.number("seed", 0));
  return config;
}

}  // namespace

int generate_command(const Words& words) {
  Arguments arguments = generate_arguments();
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  TokenText text(run);
  const Index tokens = arguments.has("tokens") ? arguments.number("tokens", 0) : 200;
  const WriterConfig config = writer_config(arguments, text.vocabulary());
  const std::string prompt = arguments.has("prompt") ? arguments.text("prompt") : "";
  std::vector<std::int32_t> ids =
      text.tokens(prompt, arguments.flag("specials") ? Specials::recognised : Specials::as_text);
  const std::size_t shown_from = ids.empty() ? 1 : 0;
  if (ids.empty() && text.end_of_text()) ids.push_back(*text.end_of_text());
  if (ids.empty()) throw UsageError("--prompt: expected at least one token to begin with");
  const Checkpoint checkpoint = chosen_checkpoint(arguments, run);
  Writer writer(checkpoint.model, ids, config);

  const bool as_json = arguments.flag("json");
  std::string written;
  const auto show = [&](const std::string& piece) {
    written += piece;
    if (!as_json) std::cout << piece << std::flush;
  };
  for (std::size_t i = shown_from; i < ids.size(); ++i) show(text.print(ids[i]));
  watch_for_interrupt();
  for (Index i = 0; i < tokens && !interrupt_wished() && std::cout; ++i) {
    const std::int32_t id = writer.next();
    if (id == text.end_of_text()) break;
    show(text.print(id));
  }
  show(text.print_rest());
  if (as_json)
    std::cout << json_text({{"run", run.path().string()},
                            {"step", checkpoint.step},
                            {"prompt_tokens", ids},
                            {"tokens", writer.text()},
                            {"text", written}});
  else
    std::cout << "\n";
  if (!interrupt_wished()) return 0;
  spdlog::warn("stopped after {} of {} tokens", writer.text().size() - ids.size(), tokens);
  return 1;
}

}  // namespace tapehead::app
