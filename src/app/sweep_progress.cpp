#include "tapehead/app/sweep_progress.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "tapehead/app/table.h"

namespace tapehead::app {

namespace {

constexpr Index kNotBegun = -1;

}  // namespace

SweepProgress::SweepProgress(std::vector<Index> last_steps)
    : last_steps_(std::move(last_steps)),
      line_(std::chrono::seconds(10)),
      at_(last_steps_.size(), kNotBegun),
      over_(last_steps_.size(), false) {}

void SweepProgress::reached(std::size_t run, Index step) {
  const std::lock_guard lock(mutex_);
  if (at_[run] != kNotBegun) trained_ += step - at_[run];
  at_[run] = step;
  if (line_.is_due()) show();
}

void SweepProgress::ended(std::size_t run, bool finished) {
  const std::lock_guard lock(mutex_);
  over_[run] = true;
  if (!finished) return;
  if (at_[run] != kNotBegun) trained_ += last_steps_[run] - at_[run];
  at_[run] = last_steps_[run];
  ++finished_;
  if (!line_.on_terminal() || finished_ == at_.size()) show();
}

void SweepProgress::warn(const std::string& message) {
  const std::lock_guard lock(mutex_);
  line_.clear();
  spdlog::warn(message);
}

std::optional<double> SweepProgress::time_left() const {
  if (trained_ == 0) return {};
  Index left = 0;
  for (std::size_t run = 0; run < at_.size(); ++run)
    if (!over_[run]) left += last_steps_[run] - std::max<Index>(0, at_[run]);
  const double seconds = std::chrono::duration<double>(StatusLine::Clock::now() - start_).count();
  return seconds / static_cast<double>(trained_) * static_cast<double>(left);
}

void SweepProgress::show() {
  Index done = 0;
  for (const Index step : at_) done += std::max<Index>(0, step);
  const Index all = std::accumulate(last_steps_.begin(), last_steps_.end(), Index{0});
  const std::optional<double> left = time_left();
  line_.show(static_cast<double>(done) / static_cast<double>(all),
             fmt::format("{} of {} runs done  step {}/{}{}", finished_, at_.size(), grouped(done),
                         grouped(all), left ? fmt::format("  {} left", clock_time(*left)) : ""));
}

}  // namespace tapehead::app
