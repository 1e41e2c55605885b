#include "tapehead/app/status_line.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

namespace tapehead::app {

namespace {

constexpr std::chrono::milliseconds kOnTerminal{100};
constexpr int kBarWidth = 24;

}  // namespace

StatusLine::StatusLine(std::chrono::seconds elsewhere)
    : on_terminal_(isatty(STDERR_FILENO) == 1),
      apart_(on_terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(elsewhere)),
      next_(Clock::now() + apart_) {}

StatusLine::~StatusLine() {
  if (is_open_) std::fputc('\n', stderr);
}

bool StatusLine::is_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + apart_;
  return true;
}

void StatusLine::show(double share, const std::string& text) {
  if (!on_terminal_) {
    spdlog::info(text);
    return;
  }
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < share * kBarWidth ? "█" : "░";
  fmt::print(stderr, "\r{} {}\x1b[K", bar, text);
  std::fflush(stderr);
  is_open_ = true;
}

void StatusLine::clear() {
  if (!is_open_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  is_open_ = false;
}

}  // namespace tapehead::app
