#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tapehead/app/commands.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/table.h"
#include "tapehead/app/token_text.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/lens.h"

namespace tapehead::app {

namespace {

constexpr Index kTopTokens = 5;

/// One sequence at one position, and the token that comes next where it is known.
struct Shown {
  std::string where;
  Tokens tokens;
  Index position = 0;
  std::optional<std::int32_t> right = {};
};

/// The last position whose target can be copied, or the last of all.
Index position_to_show(const Batch& batch, Index sequence) {
  Index position = batch.length() - 1;
  while (position >= 0 && batch.kinds(sequence, position) != Kind::induction) --position;
  return position < 0 ? batch.length() - 1 : position;
}

Index chosen_below(const Arguments& arguments, const std::string& option, Index limit, Index otherwise) {
  const Index chosen = arguments.has(option) ? arguments.number(option, 0) : otherwise;
  if (chosen >= limit)
    throw UsageError(fmt::format("--{}: expected a number from 0 to {}, got {}", option, limit - 1, chosen));
  return chosen;
}

Shown shown_of_batch(const Arguments& arguments, const Batch& batch) {
  const Index sequence = chosen_below(arguments, "sequence", batch.size(), 0);
  const Index position =
      chosen_below(arguments, "position", batch.length(), position_to_show(batch, sequence));
  return {fmt::format("sequence {} of the evaluation batch", sequence), batch.inputs.rows(sequence, 1),
          position, batch.targets(sequence, position)};
}

Shown shown_of_text(const Arguments& arguments, const TokenText& text, Index context) {
  if (arguments.has("sequence") || arguments.has("sequences"))
    throw UsageError("--text takes the place of the evaluation batch: leave out --sequence and --sequences");
  const std::vector<std::int32_t> ids = text.tokens(arguments.text("text"), Specials::as_text);
  const auto length = static_cast<Index>(ids.size());
  if (length < 1 || length > context)
    throw UsageError(fmt::format("--text: expected 1 to {} tokens, got {}", context, length));
  Shown shown{"the text", Tokens(1, length, ids), chosen_below(arguments, "position", length, length - 1)};
  if (shown.position + 1 < length) shown.right = ids[static_cast<std::size_t>(shown.position + 1)];
  return shown;
}

std::string layer_name(Index layer) { return layer == 0 ? "embedding" : fmt::format("layer {}", layer - 1); }

nlohmann::ordered_json json_of(const Shown& shown, const Tensor& read, const TokenText& text) {
  nlohmann::ordered_json document{{"where", shown.where},
                                  {"position", shown.position},
                                  {"token", text.label(shown.tokens(0, shown.position))},
                                  {"right", nullptr}};
  if (shown.right) document["right"] = text.label(*shown.right);
  for (Index layer = 0; layer < read.shape()[0]; ++layer) {
    nlohmann::ordered_json entry{{"after", layer_name(layer)}};
    for (const Guess& guess : likeliest(read, layer, kTopTokens))
      entry["tokens"].push_back(
          {{"id", guess.token}, {"label", text.label(guess.token)}, {"probability", guess.probability}});
    if (shown.right) entry["right_probability"] = static_cast<double>(read(layer, *shown.right));
    document["layers"].push_back(std::move(entry));
  }
  return document;
}

void print_losses(const std::vector<Evaluation>& evaluations, Index vocabulary) {
  TextTable table({"read out after", "loss", "induction", "noise", "accuracy induction", "accuracy noise"});
  for (std::size_t layer = 0; layer < evaluations.size(); ++layer) {
    const Evaluation& e = evaluations[layer];
    table.add({layer_name(static_cast<Index>(layer)), decimals(e.loss(), 4),
               decimals(e.loss(Kind::induction), 4), decimals(e.loss(Kind::noise), 4),
               decimals(e.accuracy(Kind::induction), 4), decimals(e.accuracy(Kind::noise), 4)});
  }
  std::cout << fmt::format(
                   "mean loss in nats and accuracy by kind of position, over {} sequences; chance is ln {} = "
                   "{:.4f} and 1/{}\n\n",
                   evaluations.front().kinds.batch(), vocabulary, std::log(static_cast<double>(vocabulary)),
                   vocabulary)
            << table.text() << "\n";
}

void print_tokens(const Shown& shown, const Tensor& read, const TokenText& text) {
  TextTable table({"read out after", "likeliest next tokens", "right one"});
  for (Index layer = 0; layer < read.shape()[0]; ++layer) {
    std::string list;
    for (const Guess& guess : likeliest(read, layer, kTopTokens))
      list += fmt::format("{}{}{} {:.3f}", list.empty() ? "" : "  ", text.label(guess.token),
                          shown.right == guess.token ? "*" : "", guess.probability);
    table.add({layer_name(layer), list,
               shown.right ? decimals(static_cast<double>(read(layer, *shown.right)), 3) : "-"});
  }
  std::cout << fmt::format("at position {} of {}, whose token is {}", shown.position, shown.where,
                           text.label(shown.tokens(0, shown.position)));
  if (shown.right) std::cout << fmt::format(" (* the right next one: {})", text.label(*shown.right));
  std::cout << "\n\n" << table.text();
}

void print(const Arguments& arguments, const RunDirectory& run, const Checkpoint& checkpoint,
           const std::vector<Evaluation>& evaluations, const Shown& shown) {
  const TokenText text(run);
  const Tensor read = lens_at(checkpoint.model, shown.tokens, shown.position);
  if (arguments.flag("json")) {
    nlohmann::ordered_json document{{"run", run.path().string()}, {"step", checkpoint.step}};
    for (std::size_t layer = 0; layer < evaluations.size(); ++layer) {
      const Evaluation& e = evaluations[layer];
      document["layers"].push_back({{"after", layer_name(static_cast<Index>(layer))},
                                    {"loss", e.loss()},
                                    {"loss_induction", e.loss(Kind::induction)},
                                    {"loss_noise", e.loss(Kind::noise)},
                                    {"accuracy_induction", e.accuracy(Kind::induction)},
                                    {"accuracy_noise", e.accuracy(Kind::noise)}});
    }
    document["shown"] = json_of(shown, read, text);
    std::cout << json_text(document);
    return;
  }
  std::cout << fmt::format(
      "{} at step {}: the residual stream read out early, through the model's own final norm (its scale that "
      "of the\nstream it reads) and unembedding; a stream that says nothing here may hold what later layers "
      "use\n\n",
      run.path().string(), checkpoint.step);
  if (!evaluations.empty()) print_losses(evaluations, checkpoint.config.model.vocabulary);
  print_tokens(shown, read, text);
}

}  // namespace

int lens_command(const Words& words) {
  Arguments arguments("lens", "What could be read out of the residual stream after every layer.", "RUN");
  add_run_options(arguments);
  arguments.options()("sequence", "which sequence of the evaluation batch to show the likeliest tokens of",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("text",
                      "show those of this text instead (for a run without a tokenizer, token ids); the run's "
                      "table stays as it is",
                      cxxopts::value<std::string>(), "TEXT");
  arguments.options()("position",
                      "at which position (default: the last whose target can be copied; of a text, the last)",
                      cxxopts::value<std::string>(), "N");
  if (!arguments.parse(words)) return 0;
  if (arguments.has("text")) {
    const RunDirectory run = RunDirectory::open(arguments.positional());
    const Checkpoint checkpoint = chosen_checkpoint(arguments, run);
    print(arguments, run, checkpoint, {},
          shown_of_text(arguments, TokenText(run), checkpoint.config.model.context));
    return 0;
  }
  const LoadedRun run = load_run(arguments);
  const Shown shown = shown_of_batch(arguments, run.batch);
  const std::vector<Evaluation> evaluations =
      lens(run.checkpoint.model, run.batch, {.threads = arguments.threads()});
  print(arguments, run.directory, run.checkpoint, evaluations, shown);
  std::cout.flush();
  lens_table(evaluations, run.checkpoint.step).write(run.directory.table_file("lens"));
  return 0;
}

}  // namespace tapehead::app
