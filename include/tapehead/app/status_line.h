/// A line that says how far something is: rewritten with a bar on a terminal, plain log lines elsewhere.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tapehead/app/terminal.h"

namespace tapehead::app {

class StatusLine {
 public:
  using Clock = std::chrono::steady_clock;

  /// Off a terminal a line is due every `elsewhere`.
  explicit StatusLine(std::chrono::seconds elsewhere);
  /// What is shown stays.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool on_terminal() const { return on_terminal_; }
  /// Columns and rows for lines below it on the terminal, as wide and high as that is now.
  TerminalSize room_below() const;
  /// Whether it is time for somebody to read another; then the next is due later.
  bool is_due();
  /// Shows the text, and on a terminal before it a bar of which `share` is full, and below it these lines, in
  /// place of what was shown before; what is too wide is cut.
  void show(double share, const std::string& text, const std::vector<std::string>& below = {});
  /// Makes way for a line of something else.
  void clear();

 private:
  std::string way_back(int columns) const;

  bool on_terminal_;
  Clock::duration apart_;
  Clock::time_point next_;
  std::vector<int> shown_;  // the widths of the lines that are on the terminal
};

}  // namespace tapehead::app
