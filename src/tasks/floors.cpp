#include "tapehead/tasks/floors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// Position by position, (B, T).
struct Scores {
  std::vector<double> losses;
  std::vector<double> hits;
};

double mean_over(const std::vector<double>& values, const Table<Kind>& kinds, const Kind* kind) {
  double total = 0;
  Index count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (kind != nullptr && kinds.values()[i] != *kind) continue;
    total += values[i];
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : total / static_cast<double>(count);
}

Floor means_of(std::string_view predictor, const Scores& scores, const Table<Kind>& kinds) {
  constexpr Kind induction = Kind::induction;
  constexpr Kind noise = Kind::noise;
  return {predictor, mean_over(scores.losses, kinds, nullptr), mean_over(scores.losses, kinds, &induction),
          mean_over(scores.losses, kinds, &noise), mean_over(scores.hits, kinds, &induction)};
}

Scores chance_scores(const Batch& batch, Index vocabulary) {
  const auto count = static_cast<std::size_t>(batch.inputs.count());
  const auto tokens = static_cast<double>(vocabulary);
  return {std::vector<double>(count, std::log(tokens)), std::vector<double>(count, 1 / tokens)};
}

/// Fills in sequence b.
void score(Scores& scores, const Task& task, View view, const Batch& batch, Index b) {
  const auto length = static_cast<std::size_t>(batch.length());
  const std::size_t begin = static_cast<std::size_t>(b) * length;
  for (std::size_t t = 0; t < length; ++t) {
    const Knowledge knowledge(view, batch.inputs.values().subspan(begin, t + 1));
    const NextToken next(task.outcomes(knowledge), knowledge, task.vocabulary());
    const std::int32_t target = batch.targets.values()[begin + t];
    scores.losses[begin + t] = 0 - std::log(next.chance(target));
    scores.hits[begin + t] = next.hit(target);
  }
}

bool has_law(const Task& task, const Batch& batch) {
  return !task.outcomes(Knowledge(View::everything, batch.inputs.values().first(1))).empty();
}

}  // namespace

Index floor_sequences(const Batch& batch) {
  // A sequence takes at most about a nanosecond for the cube of its length.
  constexpr double kMost = 4e9;
  const auto length = static_cast<double>(batch.length());
  const double most = std::max(1.0, kMost / (length * length * length));
  return most < static_cast<double>(batch.size()) ? static_cast<Index>(most) : batch.size();
}

std::vector<Floor> floors(const Task& task, const Batch& all, int threads) {
  require(all.size() >= 1, "[floors] a batch without sequences");
  const Batch batch = all.rows(0, floor_sequences(all));
  Scores scores = chance_scores(batch, task.vocabulary());
  std::vector<Floor> list{means_of("chance", scores, batch.kinds)};
  if (batch.length() > kLongestFloor || !has_law(task, batch)) return list;
  constexpr std::pair<std::string_view, View> kPredictors[] = {
      {"current token", View::current_token}, {"last two", View::last_two}, {"Bayes", View::everything}};
  for (const auto& predictor : kPredictors) {
    parallel_for(batch.size(), threads, [&](Index b) { score(scores, task, predictor.second, batch, b); });
    list.push_back(means_of(predictor.first, scores, batch.kinds));
  }
  return list;
}

}  // namespace tapehead
