#include "tapehead/app/progress.h"

#include <fmt/core.h>

#include "tapehead/app/table.h"

namespace tapehead::app {

Progress::Progress(Index first, Index last, Index tokens_per_step)
    : first_(first),
      last_(last),
      tokens_per_step_(tokens_per_step),
      start_(StatusLine::Clock::now()),
      line_(std::chrono::seconds(5)) {}

void Progress::update(Index step, double loss) {
  if (!line_.is_due() && step < last_) return;
  const double seconds = std::chrono::duration<double>(StatusLine::Clock::now() - start_).count();
  const auto done = static_cast<double>(step - first_);
  const double left = done > 0 ? seconds / done * static_cast<double>(last_ - step) : 0;
  const double rate = seconds > 0 ? done * static_cast<double>(tokens_per_step_) / seconds : 0;
  line_.show(static_cast<double>(step) / static_cast<double>(last_),
             fmt::format("step {}/{}  loss {:.3f}  {} tokens/s  {} left", step, last_, loss,
                         grouped(static_cast<long long>(rate)), clock_time(left)));
}

}  // namespace tapehead::app
