#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tapehead/app/commands.h"
#include "tapehead/app/head_name.h"
#include "tapehead/app/json.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/app/table.h"
#include "tapehead/app/token_text.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/recorder.h"

namespace tapehead::app {

namespace {

/// One head's weights on a text, (T, T): rows are queries.
struct Map {
  Site head;
  std::vector<std::vector<double>> weights;
};

std::vector<Site> chosen_heads(const Arguments& arguments, const ModelConfig& config) {
  std::vector<Site> heads;
  for (const std::string& name : arguments.texts("head")) heads.push_back(parse_head(name, config));
  if (!heads.empty()) return heads;
  for (Index layer = 0; layer < config.layers; ++layer)
    for (Index head = 0; head < config.heads; ++head) heads.push_back(head_output(layer, head));
  return heads;
}

std::vector<Map> maps_of(const Transformer& model, const std::vector<std::int32_t>& ids,
                         const std::vector<Site>& heads) {
  std::vector<Site> sites;
  for (const Site& head : heads)
    if (std::ranges::find(sites, pattern(head.layer)) == sites.end()) sites.push_back(pattern(head.layer));
  Recorder recorder(sites);
  const auto length = static_cast<Index>(ids.size());
  model(Pass().watched_by({recorder}), Tokens(1, length, ids));
  std::vector<Map> maps;
  for (const Site& head : heads) {
    const Tensor weights = recorder.at(pattern(head.layer));
    Map map{head, {}};
    for (Index query = 0; query < length; ++query)
      for (Index key = 0; key < length; ++key) {
        if (key == 0) map.weights.emplace_back();
        map.weights.back().push_back(static_cast<double>(weights(0, head.head, query, key)));
      }
    maps.push_back(std::move(map));
  }
  return maps;
}

void print_json(const RunDirectory& run, Index step, const std::vector<std::int32_t>& ids,
                const TokenText& text, const std::vector<Map>& maps) {
  nlohmann::ordered_json document{{"run", run.path().string()}, {"step", step}, {"tokens", ids}};
  for (const std::int32_t id : ids) document["labels"].push_back(text.label(id));
  document["heads"] = nlohmann::ordered_json::array();
  for (const Map& map : maps)
    document["heads"].push_back(
        {{"layer", map.head.layer}, {"head", map.head.head}, {"pattern", map.weights}});
  std::cout << json_text(document);
}

/// Every query with the keys it looks at most.
void print_map(const Map& map, const std::vector<std::int32_t>& ids, const TokenText& text, Index shown) {
  TextTable table({"position", "token", "looks at"});
  for (std::size_t query = 0; query < ids.size(); ++query) {
    std::vector<std::size_t> keys(query + 1);
    std::iota(keys.begin(), keys.end(), std::size_t{0});
    const std::vector<double>& row = map.weights[query];
    std::ranges::stable_sort(keys, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
    keys.resize(std::min(keys.size(), static_cast<std::size_t>(shown)));
    std::string list;
    for (const std::size_t key : keys)
      list +=
          fmt::format("{}at {} {} {:.2f}", list.empty() ? "" : ",  ", key, text.label(ids[key]), row[key]);
    table.add({std::to_string(query), text.label(ids[query]), list});
  }
  std::cout << fmt::format("layer {} head {}\n\n", map.head.layer, map.head.head) << table.text() << "\n";
}

}  // namespace

int attention_command(const Words& words) {
  Arguments arguments("attention", "What each token of a text looks at, head by head.", "RUN");
  arguments.options()("text", "the text; for a run without a tokenizer, token ids",
                      cxxopts::value<std::string>(), "TEXT");
  arguments.options()("head", "one head only, as in 0.1 for head 1 of layer 0; may be repeated",
                      cxxopts::value<std::vector<std::string>>(), "LAYER.HEAD");
  arguments.options()("keys", "how many keys to show of every query, the strongest first (default: 3)",
                      cxxopts::value<std::string>(), "N");
  arguments.options()("specials", "take <|endoftext|> in the text for the token of that name");
  add_step_option(arguments);
  arguments.add_json();
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  const TokenText text(run);
  if (!arguments.has("text")) throw UsageError("--text is missing; see tapehead attention --help");
  const std::vector<std::int32_t> ids = text.tokens(
      arguments.text("text"), arguments.flag("specials") ? Specials::recognised : Specials::as_text);
  if (ids.empty()) throw UsageError("--text: expected at least one token");
  const Index shown = arguments.has("keys") ? arguments.number("keys", 1) : 3;
  const Checkpoint checkpoint = chosen_checkpoint(arguments, run);
  const std::vector<Map> maps =
      maps_of(checkpoint.model, ids, chosen_heads(arguments, checkpoint.config.model));
  if (arguments.flag("json"))
    print_json(run, checkpoint.step, ids, text, maps);
  else
    for (const Map& map : maps) print_map(map, ids, text, shown);
  return 0;
}

}  // namespace tapehead::app
