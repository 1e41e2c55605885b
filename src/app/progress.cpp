#include "tapehead/app/progress.h"

#include <fmt/core.h>

#include <array>

#include "tapehead/app/interrupt.h"
#include "tapehead/app/table.h"
#include "tapehead/text/display.h"

namespace tapehead::app {

Progress::Progress(Index first, Index last, Index tokens_per_step)
    : first_(first),
      last_(last),
      tokens_per_step_(tokens_per_step),
      start_(StatusLine::Clock::now()),
      line_(std::chrono::seconds(5)) {}

void Progress::update(Index step, double loss, const LearningText* learning) {
  // Once somebody wishes to stop, that is the last line that stands there.
  if (interrupt_wished() || step <= first_ || (!line_.is_due() && step < last_)) return;
  const double seconds = std::chrono::duration<double>(StatusLine::Clock::now() - start_).count();
  const auto done = static_cast<double>(step - first_);
  const double left = seconds / done * static_cast<double>(last_ - step);
  const double rate = seconds > 0 ? done * static_cast<double>(tokens_per_step_) / seconds : 0;
  const std::string where = fmt::format("step {}/{}", step, last_);
  const std::string until = fmt::format("{} left", clock_time(left));
  std::string text = fmt::format("{}  loss {:.3f}  {} tokens/s  {}", where, loss,
                                 grouped(static_cast<long long>(rate)), until);
  if (line_.on_terminal())
    text = fitting(std::array{text, fmt::format("{}  loss {:.3f}  {}", where, loss, until),
                              fmt::format("{}  {}", where, until)},
                   line_.room_below().columns);
  std::vector<std::string> below;
  if (learning != nullptr && line_.on_terminal())
    below = learning->lines(line_.room_below().columns, line_.room_below().rows);
  else if (learning != nullptr)
    text += learning->in_words();
  line_.show(static_cast<double>(step) / static_cast<double>(last_), text, below);
}

}  // namespace tapehead::app
