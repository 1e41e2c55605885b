/// Where the time of passes goes, by op: `Profile profile; Tape tape(&profile);`
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

class Profile {
 public:
  using Clock = std::chrono::steady_clock;

  struct Entry {
    std::string_view name;  ///< of an op; must outlive the profile, as the literals that ops pass do
    Index calls = 0;        ///< forward
    double forward = 0;     ///< seconds
    double backward = 0;    ///< seconds
  };

  void add_forward(std::string_view name, Clock::duration time);
  void add_backward(std::string_view name, Clock::duration time);
  /// Adds all of another profile: of another shard, say.
  void add(const Profile& other);

  /// In the order in which they first came by.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Entry& at(std::string_view name);

  std::vector<Entry> entries_;
};

/// Adds the time since it was last asked to a profile; without one it does nothing.
class Laps {
 public:
  explicit Laps(Profile* profile) : profile_(profile) { skip(); }

  void add_forward(std::string_view name) {
    if (profile_ != nullptr) profile_->add_forward(name, lap());
  }
  void add_backward(std::string_view name) {
    if (profile_ != nullptr) profile_->add_backward(name, lap());
  }
  /// The time until now counts for nothing.
  void skip() {
    if (profile_ != nullptr) lap();
  }

 private:
  Profile::Clock::duration lap();

  Profile* profile_;
  Profile::Clock::time_point last_ = {};
};

}  // namespace tapehead
