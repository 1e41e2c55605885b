/// Copies of what came by the sites of a model, for a whole batch.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "tapehead/nn/pass.h"

namespace tapehead {

/// How many numbers a recorder of these sites keeps of one sequence of that length.
Index recorded_numbers(const std::vector<Site>& sites, const ModelConfig& config, Index length);

class Recorder : public Watcher {
 public:
  /// Will record these sites, all heads of each. Throws Error for a site with a head.
  explicit Recorder(std::vector<Site> sites);

  /// What came by, the sequences of all shards in order; watchers asked before this one have had their say.
  /// Throws Error for a site that was not asked for, before a pass, and if what came by is of several batches
  /// cut in different ways.
  Tensor at(const Site& site) const;
  /// Forgets what came by.
  void clear();

  void check(const ModelConfig& config) const override;
  Variable visit(const Visit& at, const Variable& value) override;
  void finish(const std::vector<Site>& visited) const override;

 private:
  struct Record {
    Site site;
    std::map<Index, Tensor> shards;  // by first sequence
  };
  std::vector<Record> records_;
  mutable std::mutex mutex_;
};

}  // namespace tapehead
