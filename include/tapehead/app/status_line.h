/// A line that says how far something is: rewritten with a bar on a terminal, plain log lines elsewhere.
#pragma once

#include <chrono>
#include <string>

namespace tapehead::app {

class StatusLine {
 public:
  using Clock = std::chrono::steady_clock;

  /// Off a terminal a line is due every `elsewhere`.
  explicit StatusLine(std::chrono::seconds elsewhere);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool on_terminal() const { return on_terminal_; }
  /// Whether it is time for somebody to read another; then the next is due later.
  bool is_due();
  /// Shows the text, and on a terminal before it a bar of which `share` is full.
  void show(double share, const std::string& text);
  /// Makes way for a line of something else.
  void clear();

 private:
  bool on_terminal_;
  Clock::duration apart_;
  Clock::time_point next_;
  bool is_open_ = false;
};

}  // namespace tapehead::app
