#include "tapehead/autograd/profile.h"

#include <algorithm>
#include <utility>

namespace tapehead {

namespace {

double seconds(Profile::Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Profile::Entry& Profile::at(std::string_view name) {
  const auto there =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  if (there != entries_.end()) return *there;
  return entries_.emplace_back(Entry{.name = name});
}

void Profile::add_forward(std::string_view name, Clock::duration time) {
  Entry& entry = at(name);
  ++entry.calls;
  entry.forward += seconds(time);
}

void Profile::add_backward(std::string_view name, Clock::duration time) {
  at(name).backward += seconds(time);
}

void Profile::add(const Profile& other) {
  for (const Entry& entry : other.entries_) {
    Entry& sum = at(entry.name);
    sum.calls += entry.calls;
    sum.forward += entry.forward;
    sum.backward += entry.backward;
  }
}

Profile::Clock::duration Laps::lap() {
  const Profile::Clock::time_point now = Profile::Clock::now();
  return now - std::exchange(last_, now);
}

}  // namespace tapehead
