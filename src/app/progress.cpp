#include "tapehead/app/progress.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "tapehead/app/table.h"

namespace tapehead::app {

namespace {

constexpr std::chrono::milliseconds kOnTerminal{100};
constexpr std::chrono::seconds kElsewhere{5};

}  // namespace

Progress::Progress(Index first, Index last, Index tokens_per_step)
    : first_(first),
      last_(last),
      tokens_per_step_(tokens_per_step),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      next_show_(start_ + (on_terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kElsewhere))) {}

Progress::~Progress() {
  if (line_open_) std::fputc('\n', stderr);
}

void Progress::update(Index step, double loss) {
  const Clock::time_point now = Clock::now();
  if (now < next_show_ && step < last_) return;
  next_show_ = now + (on_terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(kElsewhere));
  show(step, loss);
}

void Progress::show(Index step, double loss) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double done = static_cast<double>(step - first_);
  const double left = done > 0 ? seconds / done * static_cast<double>(last_ - step) : 0;
  const double rate = seconds > 0 ? done * static_cast<double>(tokens_per_step_) / seconds : 0;
  const std::string line = fmt::format("step {}/{}  loss {:.3f}  {} tokens/s  {} left", step, last_, loss,
                                       grouped(static_cast<long long>(rate)), clock_time(left));
  if (!on_terminal_) {
    spdlog::info(line);
    return;
  }
  constexpr int width = 24;
  std::string bar;
  for (Index i = 0; i < width; ++i) bar += i * last_ < step * width ? "█" : "░";
  fmt::print(stderr, "\r{} {}\x1b[K", bar, line);
  std::fflush(stderr);
  line_open_ = true;
}

}  // namespace tapehead::app
