#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tapehead/app/commands.h"
#include "tapehead/app/head_name.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/output_file.h"
#include "tapehead/app/table.h"
#include "tapehead/app/terminal.h"
#include "tapehead/app/token_text.h"
#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/attention_map.h"
#include "tapehead/report/attention_figure.h"
#include "tapehead/report/attention_text.h"
#include "tapehead/report/head_map_figure.h"
#include "tapehead/tasks/text_windows.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/trainer.h"

namespace tapehead::app {

namespace {

constexpr Index kStrongestKeys = 3;

/// The one sequence that is looked at.
struct Shown {
  Batch sequence;
  std::string where;  ///< "sequence 3 of the evaluation batch"
};

/// How the tokens stand on the axes of a map.
std::vector<std::string> signs_of(const Shown& shown, const RunDirectory& run) {
  const auto tokenizer =
      is_tokenizer_folder(run.tokenizer_folder()) ? load_tokenizer(run.tokenizer_folder()) : nullptr;
  return token_signs(shown.sequence.inputs, run.config().model.vocabulary, tokenizer.get());
}

Shown shown_of_text(const Arguments& arguments, const TokenText& text) {
  const std::vector<std::int32_t> ids = text.tokens(
      arguments.text("text"), arguments.flag("specials") ? Specials::recognised : Specials::as_text);
  if (ids.empty()) throw UsageError("--text: expected at least one token");
  const auto length = static_cast<Index>(ids.size());
  Batch sequence = noise_batch(1, length);
  sequence.inputs = Tokens(1, length, ids);
  // The token after the last is not known: no token has this number.
  for (Index t = 0; t < length; ++t)
    sequence.targets(0, t) = t + 1 < length ? sequence.inputs(0, t + 1) : std::int32_t{-1};
  mark_repeats(sequence, 0);
  return {std::move(sequence), "the text"};
}

Shown shown_of_batch(const Arguments& arguments, const Checkpoint& checkpoint) {
  const Batch batch = evaluation_batch(checkpoint.config, *task_of(checkpoint));
  const Index number = arguments.has("sequence") ? arguments.number("sequence", 0) : number_to_show(batch);
  if (number >= batch.size())
    throw UsageError(
        fmt::format("--sequence: expected a sequence of the evaluation batch from 0 to {}, got {}",
                    batch.size() - 1, number));
  return {batch.rows(number, 1), fmt::format("sequence {} of the evaluation batch", number)};
}

std::vector<Site> chosen_heads(const Arguments& arguments, const ModelConfig& config) {
  std::vector<Site> heads;
  for (const std::string& name : arguments.texts("head")) heads.push_back(parse_head(name, config));
  if (!heads.empty()) return heads;
  if (config.layers == 0) throw UsageError("this model has no layers, so no head looks at anything");
  for (Index layer = 0; layer < config.layers; ++layer)
    for (Index head = 0; head < config.heads; ++head) heads.push_back(head_output(layer, head));
  return heads;
}

void print_json(const RunDirectory& run, Index step, const Shown& shown, const TokenText& text,
                const std::vector<AttentionMap>& maps) {
  const auto ids = shown.sequence.inputs.values();
  nlohmann::ordered_json document{{"run", run.path().string()},
                                  {"step", step},
                                  {"where", shown.where},
                                  {"tokens", std::vector<std::int32_t>(ids.begin(), ids.end())}};
  for (const std::int32_t id : ids) document["labels"].push_back(text.label(id));
  document["heads"] = nlohmann::ordered_json::array();
  for (const AttentionMap& map : maps)
    document["heads"].push_back({{"layer", map.layer}, {"head", map.head}, {"pattern", map.weights}});
  std::cout << json_text(document);
}

/// Every query with the keys it looks at most.
void print_keys(const AttentionMap& map, std::span<const std::int32_t> ids, const TokenText& text,
                Index count) {
  TextTable table({"position", "token", "looks at"});
  for (std::size_t query = 0; query < ids.size(); ++query) {
    std::vector<std::size_t> keys(query + 1);
    std::iota(keys.begin(), keys.end(), std::size_t{0});
    const std::vector<double>& row = map.weights[query];
    std::ranges::stable_sort(keys, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
    keys.resize(std::min(keys.size(), static_cast<std::size_t>(count)));
    std::string list;
    for (const std::size_t key : keys)
      list +=
          fmt::format("{}at {} {} {:.2f}", list.empty() ? "" : ",  ", key, text.label(ids[key]), row[key]);
    table.add({std::to_string(query), text.label(ids[query]), list});
  }
  std::cout << fmt::format("layer {} head {}\n\n", map.layer, map.head) << table.text() << "\n";
}

void print_map(const AttentionMap& map, const Shown& shown, const std::vector<std::string>& signs) {
  const int columns = isatty(STDOUT_FILENO) == 1 ? terminal_size(STDOUT_FILENO).columns : 0;
  std::cout << fmt::format("layer {} head {}\n\n", map.layer, map.head)
            << attention_text(map, signs, induction_targets(shown.sequence, 0), shading_of(STDOUT_FILENO),
                              columns);
}

Arguments attention_arguments() {
  Arguments arguments("attention",
                      "What each token of a sequence looks at: of one head, as a map; of several, the keys "
                      "with the most weight.",
                      "RUN");
  arguments.options()("head",
                      "one head only, as in 0.1 for head 1 of layer 0; may be repeated (default: all heads)",
                      cxxopts::value<std::vector<std::string>>(), "LAYER.HEAD");
  arguments.options()("sequence",
                      "which sequence of the evaluation batch to show (default: one that repeats well)",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("text", "show this text instead; for a run without a tokenizer, token ids",
                      cxxopts::value<std::string>(), "TEXT");
  arguments.options()("specials", "take <|endoftext|> in the text for the token of that name");
  arguments.options()("keys",
                      fmt::format("list so many keys of every query, the strongest first, in place of the "
                                  "map (default of several heads: {})",
                                  kStrongestKeys),
                      cxxopts::value<std::string>(), "N");
  arguments.options()("png", "draw the one head's map into this file too; as SVG if it ends in .svg",
                      cxxopts::value<std::string>(), "FILE");
  add_step_option(arguments);
  arguments.add_json();
  return arguments;
}

/// Throws Error for a file that begins as no PNG and no SVG does.
void look_at_picture(const std::filesystem::path& file) {
  const MappedFile picture(file, "picture");
  const std::string_view bytes = picture.bytes();
  require(bytes.starts_with("\x89PNG") || bytes.starts_with("<?xml") || bytes.starts_with("<svg"),
          "[picture] {} is none", file.string());
}

/// What is wrong with them, without a look at the run.
void require_right(const Arguments& arguments) {
  if (arguments.has("text") && arguments.has("sequence"))
    throw UsageError("--sequence and --text do not go together: each says what to look at");
  if (arguments.has("specials") && !arguments.has("text")) throw UsageError("--specials goes with --text");
  if (!arguments.has("png")) return;
  const std::filesystem::path file = arguments.text("png");
  if (file.extension() != ".png" && file.extension() != ".svg")
    throw UsageError(
        fmt::format("--png: expected a file that ends in .png or .svg, got '{}'", file.string()));
  require_writable(file, "--png", {"picture", look_at_picture});
}

}  // namespace

int attention_command(const Words& words) {
  Arguments arguments = attention_arguments();
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  require_right(arguments);
  const Index keys = arguments.has("keys") ? arguments.number("keys", 1) : kStrongestKeys;
  const TokenText text(run);
  const Checkpoint checkpoint = chosen_checkpoint(arguments, run);
  const std::vector<Site> heads = chosen_heads(arguments, checkpoint.config.model);
  if (arguments.has("png") && heads.size() != 1)
    throw UsageError(fmt::format(
        "--png draws the map of one head: name it with --head (tapehead plot draws those of all heads)"));
  const Shown shown =
      arguments.has("text") ? shown_of_text(arguments, text) : shown_of_batch(arguments, checkpoint);
  const std::vector<AttentionMap> maps = attention_maps(checkpoint.model, shown.sequence.inputs, heads);
  const std::vector<std::string> signs = signs_of(shown, run);
  // First, so that a reader who has seen enough of the text does not end it.
  if (arguments.has("png")) {
    draw_as(head_map_figure(maps.front(), signs, induction_targets(shown.sequence, 0), shown.where,
                            checkpoint.config, checkpoint.step),
            arguments.text("png"));
    spdlog::info("drawn into {}", arguments.text("png"));
  }
  if (arguments.flag("json")) {
    print_json(run, checkpoint.step, shown, text, maps);
  } else {
    std::cout << fmt::format("{} at step {}, {}\n\n", run.path().string(), checkpoint.step, shown.where);
    for (const AttentionMap& map : maps)
      if (maps.size() == 1 && !arguments.has("keys"))
        print_map(map, shown, signs);
      else
        print_keys(map, shown.sequence.inputs.values(), text, keys);
  }
  std::cout.flush();
  return 0;
}

}  // namespace tapehead::app
