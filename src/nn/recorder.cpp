#include "tapehead/nn/recorder.h"

#include <algorithm>
#include <utility>

#include "tapehead/base/require.h"

namespace tapehead {

Index recorded_numbers(const std::vector<Site>& sites, const ModelConfig& config, Index length) {
  Index numbers = 0;
  for (const Site& site : sites)
    numbers += length * (site.kind == SiteKind::pattern ? config.heads * length : config.width);
  return numbers;
}

Recorder::Recorder(std::vector<Site> sites) {
  for (const Site& site : sites) {
    require(site.head == kAllHeads, "[recorder] record all heads of a site, not {} alone", site);
    records_.push_back({site, {}});
  }
}

Tensor Recorder::at(const Site& site) const {
  const std::lock_guard lock(mutex_);
  const auto record =
      std::find_if(records_.begin(), records_.end(), [&](const Record& r) { return r.site == site; });
  require(record != records_.end(), "[recorder] {} was not asked for", site);
  require(!record->shards.empty(), "[recorder] no pass has come by {} yet", site);
  const Shape& shard_shape = record->shards.begin()->second.shape();
  Index batch = 0;
  for (const auto& [first, shard] : record->shards) {
    require(first == batch && shard.shape().with(0, 1) == shard_shape.with(0, 1),
            "[recorder] {} holds parts of different batches; clear() the recorder between them", site);
    batch += shard.shape()[0];
  }
  Tensor whole = Tensor::uninitialised(shard_shape.with(0, batch));
  Real* next = whole.data();
  for (const auto& [first, shard] : record->shards) next = std::copy_n(shard.data(), shard.count(), next);
  return whole;
}

void Recorder::clear() {
  const std::lock_guard lock(mutex_);
  for (Record& record : records_) record.shards.clear();
}

void Recorder::check(const ModelConfig& config) const {
  for (const Record& record : records_) require_site(record.site, config);
}

Variable Recorder::visit(const Visit& at, const Variable& value) {
  for (Record& record : records_) {
    if (record.site != at.site) continue;
    Tensor copy = value.value();
    const std::lock_guard lock(mutex_);
    record.shards.insert_or_assign(at.first_sequence, std::move(copy));
  }
  return value;
}

void Recorder::finish(const std::vector<Site>& visited) const {
  for (const Record& record : records_)
    require(std::find(visited.begin(), visited.end(), record.site) != visited.end(),
            "[recorder] nothing was recorded at {}: the pass did not come by that site", record.site);
}

}  // namespace tapehead
