#include "tapehead/train/intervention.h"

#include <algorithm>
#include <utility>

#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// The mean over the sequences, for each of them.
Variable mean_over_sequences(const Variable& value, Index) {
  return add(mean(value, 0), Variable(Tensor(value.shape())));
}

/// Attention weights (B, H, T, T) whose every row is set by `fill(row, query)`; the row begins as zeros.
template <class Fill>
Variable fixed_pattern(const Shape& shape, const Fill& fill) {
  require(shape.rank() == 4 && shape[2] == shape[3],
          "[intervention] expected a whole pattern (B, H, T, T), got {}", shape);
  const Index length = shape[2];
  Tensor pattern(shape);
  for (Index row = 0; row < shape[0] * shape[1] * length; ++row)
    fill(pattern.data() + row * length, row % length);
  return Variable(std::move(pattern));
}

Variable uniform_pattern(const Variable& value, Index) {
  return fixed_pattern(value.shape(), [](Real* row, Index query) {
    std::fill_n(row, query + 1, Real{1} / static_cast<Real>(query + 1));
  });
}

Variable previous_token_pattern(const Variable& value, Index) {
  return fixed_pattern(value.shape(), [](Real* row, Index query) { row[std::max<Index>(query - 1, 0)] = 1; });
}

}  // namespace

void add_intervention(Edits& edits, const Intervention& intervention) {
  Site site = parse_site(intervention.site);
  site.head = intervention.head;
  if (intervention.kind == "zero")
    edits.zero(site);
  else if (intervention.kind == "scale")
    edits.scale(site, static_cast<Real>(intervention.factor));
  else if (intervention.kind == "mean")
    edits.replace(site, mean_over_sequences);
  else if (intervention.kind == "uniform")
    edits.replace(site, uniform_pattern);
  else
    edits.replace(site, previous_token_pattern);
}

bool acts_at(const Intervention& intervention, Index step) {
  return intervention.from <= step && (intervention.to < 0 || step < intervention.to);
}

std::string in_words(const Intervention& intervention) {
  std::string words = fmt::format("{} at {}", intervention.kind, intervention.site);
  if (intervention.head != kAllHeads) words += fmt::format(" head {}", intervention.head);
  words += fmt::format(", from step {}", intervention.from);
  if (intervention.to >= 0) words += fmt::format(" to {}", intervention.to);
  return words;
}

Edits interventions_at(const Config& config, Index step) {
  Edits edits;
  for (const Intervention& one : config.interventions)
    if (acts_at(one, step)) add_intervention(edits, one);
  return edits;
}

Watch edited(Edits& edits, const Watch& watch) {
  if (edits.empty()) return watch;
  Watch all{edits};
  for (Watcher& watcher : watch) all.add(watcher);
  return all;
}

}  // namespace tapehead
