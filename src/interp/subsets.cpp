#include "tapehead/interp/subsets.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr double kClearExcess = 0.1;  // of v(all)
constexpr std::size_t kBlock = 128;   // evaluations that are kept position by position at a time

std::vector<Index> heads_of(PlayerSet set) {
  std::vector<Index> heads;
  for (Index head = 0; set >> head != 0; ++head)
    if ((set >> head & 1) != 0) heads.push_back(head);
  return heads;
}

/// A removal for every set of a layer's heads, in the order of games.
std::vector<Removal> removals_of(AblationKind kind, Index layer, Index heads) {
  std::vector<Removal> removals;
  for (PlayerSet set = 0; set < PlayerSet{1} << heads; ++set) {
    Removal removal{kind, {}};
    for (const Index head : heads_of(set)) removal.components.push_back(head_output(layer, head));
    removals.push_back(std::move(removal));
  }
  return removals;
}

/// Adds to every sequence's own game the worth of the sets evaluated next.
void add_worths(std::vector<Game>& games, const AblatedEvaluations& evaluations) {
  const std::vector<double> plain = evaluations.plain.loss_by_sequence(Kind::induction);
  games.resize(plain.size());
  for (const Evaluation& ablated : evaluations.ablated) {
    const std::vector<double> change = differences(ablated.loss_by_sequence(Kind::induction), plain);
    for (std::size_t b = 0; b < games.size(); ++b) games[b].push_back(change[b]);
  }
}

/// The estimate of a number that every sequence's game has.
template <class NumberOf>
Estimate over(const std::vector<Game>& games, Bootstrap& estimate, const NumberOf& number_of) {
  std::vector<double> numbers;
  for (const Game& game : games) numbers.push_back(number_of(game));
  return estimate(numbers);
}

double excess_of(const Game& game) {
  double excess = game.back();
  for (std::size_t one = 1; one < game.size(); one *= 2) excess -= game[one];
  return excess;
}

/// Who does the work, from every sequence's game.
void share_out(LayerSubsets& layer, const std::vector<Game>& games) {
  Bootstrap estimate;
  const Index heads = players_of(games.front());
  std::vector<std::vector<double>> values(static_cast<std::size_t>(heads));
  for (const Game& game : games) {
    const std::vector<double> shares = shapley_values(game);
    for (std::size_t head = 0; head < shares.size(); ++head) values[head].push_back(shares[head]);
  }
  for (Index head = 0; head < heads; ++head) {
    const Estimate shapley = estimate(values[static_cast<std::size_t>(head)]);
    const Estimate& whole = layer.whole();
    const bool may_be_0 = whole.low <= 0 && whole.high >= 0;
    layer.heads.push_back(
        {.head = head,
         .shapley = shapley,
         .alone = layer.subsets[std::size_t{1} << head].change_induction,
         .share = may_be_0 ? std::numeric_limits<double>::quiet_NaN() : shapley.mean / whole.mean});
    for (Index other = head + 1; other < heads; ++other)
      layer.pairs.push_back({head, other, over(games, estimate, [&](const Game& game) {
                               return interaction_index(game, head, other);
                             })});
  }
  layer.excess = over(games, estimate, excess_of);
}

bool is_broken(const LayerSubsets& layer, PlayerSet set) {
  return layer.subsets[set].accuracy_induction.mean < layer.broken_below();
}

bool is_kept(const LayerSubsets& layer, PlayerSet set) {
  return layer.subsets[set].accuracy_induction.mean >= layer.kept_from();
}

void find_smallest_sets(LayerSubsets& layer) {
  if (!layer.behaviour_is_there()) return;
  const auto all = static_cast<PlayerSet>(layer.subsets.size() - 1);
  const auto heads = static_cast<Index>(layer.heads.size());
  layer.breaking = smallest_sets(heads, [&](PlayerSet set) { return is_broken(layer, set); });
  layer.keeping = smallest_sets(heads, [&](PlayerSet set) { return is_kept(layer, all ^ set); });
}

/// The cells of a row one after the other.
class Row {
 public:
  Row& text(std::string cell) {
    cells_.push_back(std::move(cell));
    return *this;
  }
  Row& whole(Index number) { return text(std::to_string(number)); }
  Row& yes(bool holds) { return text(holds ? "1" : "0"); }
  Row& estimate(const Estimate& e) {
    return text(csv_cell(e.mean)).text(csv_cell(e.low)).text(csv_cell(e.high));
  }
  const std::vector<std::string>& cells() const { return cells_; }

 private:
  std::vector<std::string> cells_;
};

Row row_of(const LayerSubsets& layer) {
  return Row().text(std::string(definition_of(layer.kind).name)).whole(layer.layer);
}

bool is_in(const std::vector<PlayerSet>& sets, PlayerSet set) {
  return std::find(sets.begin(), sets.end(), set) != sets.end();
}

}  // namespace

SingleHeads single_heads(const LayerSubsets& layer) {
  const double clear = kClearExcess * std::abs(layer.whole().mean);
  if (layer.excess.low > 0 && layer.excess.mean >= clear) return SingleHeads::understate;
  if (layer.excess.high < 0 && layer.excess.mean <= -clear) return SingleHeads::overstate;
  return SingleHeads::add_up;
}

std::vector<LayerSubsets> ablate_subsets(const Transformer& model, const Batch& batch, const Batch& reference,
                                         AblationKind kind, const std::vector<Index>& layers,
                                         const EvaluateOptions& options) {
  const Index heads = model.config().heads;
  require(heads <= kMostSubsetHeads, "[subsets] expected at most {} heads a layer, got {}", kMostSubsetHeads,
          heads);
  std::vector<LayerSubsets> result;
  for (const Index number : layers) {
    const std::vector<Removal> removals = removals_of(kind, number, heads);
    LayerSubsets layer{
        .kind = kind, .layer = number, .chance = 1 / static_cast<double>(model.config().vocabulary)};
    std::vector<Game> games;
    for (std::size_t first = 0; first < removals.size(); first += kBlock) {
      const std::size_t last = std::min(first + kBlock, removals.size());
      const std::vector<Removal> block(removals.begin() + static_cast<std::ptrdiff_t>(first),
                                       removals.begin() + static_cast<std::ptrdiff_t>(last));
      const AblatedEvaluations evaluations = evaluate_ablated(model, batch, reference, block, options);
      for (Ablation& ablation : compare(evaluations, block)) layer.subsets.push_back(std::move(ablation));
      add_worths(games, evaluations);
    }
    share_out(layer, games);
    find_smallest_sets(layer);
    result.push_back(std::move(layer));
  }
  return result;
}

std::string set_name(PlayerSet heads) {
  std::string name;
  for (const Index head : heads_of(heads)) name += (name.empty() ? "" : "+") + std::to_string(head);
  return name.empty() ? "none" : name;
}

CsvTable subsets_table(const std::vector<LayerSubsets>& layers, Index step, Index sequences) {
  std::vector<std::string> columns{"kind", "layer", "heads", "count"};
  for (std::string& column : measured_columns()) columns.push_back(std::move(column));
  for (const char* column : {"broken", "kept", "smallest_breaking", "smallest_keeping", "step", "sequences"})
    columns.emplace_back(column);
  CsvTable table(std::move(columns));
  for (const LayerSubsets& layer : layers) {
    const auto all = static_cast<PlayerSet>(layer.subsets.size() - 1);
    for (PlayerSet set = 0; set <= all; ++set) {
      const Ablation& ablation = layer.subsets[set];
      Row row = row_of(layer).text(set_name(set)).whole(std::popcount(set));
      for (std::string& cell : measured_cells(ablation)) row.text(std::move(cell));
      const bool there = layer.behaviour_is_there();
      row.yes(there && is_broken(layer, set)).yes(there && is_kept(layer, set));
      row.yes(is_in(layer.breaking, set)).yes(is_in(layer.keeping, all ^ set));
      table.add(row.whole(step).whole(sequences).cells());
    }
  }
  return table;
}

CsvTable shapley_table(const std::vector<LayerSubsets>& layers, Index step, Index sequences) {
  CsvTable table({"kind", "layer", "head", "shapley", "low", "high", "share", "alone", "alone_low",
                  "alone_high", "whole_layer", "whole_layer_low", "whole_layer_high", "excess", "excess_low",
                  "excess_high", "step", "sequences"});
  for (const LayerSubsets& layer : layers)
    for (const HeadShare& head : layer.heads)
      table.add(row_of(layer)
                    .whole(head.head)
                    .estimate(head.shapley)
                    .text(csv_cell(head.share))
                    .estimate(head.alone)
                    .estimate(layer.whole())
                    .estimate(layer.excess)
                    .whole(step)
                    .whole(sequences)
                    .cells());
  return table;
}

CsvTable interactions_table(const std::vector<LayerSubsets>& layers, Index step, Index sequences) {
  CsvTable table({"kind", "layer", "first", "second", "interaction", "low", "high", "step", "sequences"});
  for (const LayerSubsets& layer : layers)
    for (const PairInteraction& pair : layer.pairs)
      table.add(row_of(layer)
                    .whole(pair.first)
                    .whole(pair.second)
                    .estimate(pair.index)
                    .whole(step)
                    .whole(sequences)
                    .cells());
  return table;
}

}  // namespace tapehead
