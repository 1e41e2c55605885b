#include "tapehead/app/sweep_progress.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tapehead/app/table.h"

namespace tapehead::app {

namespace {

constexpr std::chrono::milliseconds kOnTerminal{100};
constexpr std::chrono::seconds kElsewhere{10};
constexpr Index kNotBegun = -1;

}  // namespace

SweepProgress::SweepProgress(std::size_t runs, Index steps)
    : steps_(steps),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      at_(runs, kNotBegun),
      over_(runs, false),
      next_show_(start_ + (on_terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kElsewhere))) {}

SweepProgress::~SweepProgress() {
  if (line_open_) std::fputc('\n', stderr);
}

void SweepProgress::reached(std::size_t run, Index step) {
  const std::lock_guard lock(mutex_);
  if (at_[run] != kNotBegun) trained_ += step - at_[run];
  at_[run] = step;
  show_if_due();
}

void SweepProgress::ended(std::size_t run, bool finished) {
  const std::lock_guard lock(mutex_);
  over_[run] = true;
  if (!finished) return;
  at_[run] = steps_;
  ++finished_;
  if (!on_terminal_ || finished_ == at_.size()) show();
}

void SweepProgress::warn(const std::string& message) {
  const std::lock_guard lock(mutex_);
  clear_line();
  spdlog::warn(message);
}

void SweepProgress::show_if_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_show_) return;
  next_show_ = now + (on_terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kElsewhere));
  show();
}

std::optional<double> SweepProgress::time_left() const {
  if (trained_ == 0) return {};
  Index left = 0;
  for (std::size_t run = 0; run < at_.size(); ++run)
    if (!over_[run]) left += steps_ - std::max<Index>(0, at_[run]);
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return seconds / static_cast<double>(trained_) * static_cast<double>(left);
}

void SweepProgress::show() {
  Index done = 0;
  for (const Index step : at_) done += std::max<Index>(0, step);
  const Index all = steps_ * static_cast<Index>(at_.size());
  const std::optional<double> left = time_left();
  const std::string line =
      fmt::format("{} of {} runs done  step {}/{}{}", finished_, at_.size(), grouped(done), grouped(all),
                  left ? fmt::format("  {} left", clock_time(*left)) : "");
  if (!on_terminal_) {
    spdlog::info(line);
    return;
  }
  constexpr int width = 24;
  std::string bar;
  for (Index i = 0; i < width; ++i) bar += i * all < done * width ? "█" : "░";
  fmt::print(stderr, "\r{} {}\x1b[K", bar, line);
  std::fflush(stderr);
  line_open_ = true;
}

void SweepProgress::clear_line() {
  if (!line_open_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  line_open_ = false;
}

}  // namespace tapehead::app
