#include "tapehead/app/status_line.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "tapehead/text/display.h"

namespace tapehead::app {

namespace {

constexpr std::chrono::milliseconds kOnTerminal{100};
constexpr int kBarWidth = 24;
// So that a line that is too wide for the terminal by now takes no second row.
constexpr std::string_view kCutLines = "\x1b[?7l";
constexpr std::string_view kWrapLines = "\x1b[?7h";

// After Ctrl-Z and fg, the shell has written below what was shown.
volatile std::sig_atomic_t continued = 0;
void on_continue(int) { continued = 1; }

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

/// The bar and the text, or the text alone where there is no room for both.
std::string with_bar(double share, const std::string& text, int columns) {
  if (kBarWidth + 1 + display_width(text) > columns) return cut_to_width(text, columns);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < share * kBarWidth ? "█" : "░";
  return bar + " " + text;
}

}  // namespace

StatusLine::StatusLine(std::chrono::seconds elsewhere)
    : on_terminal_(is_terminal(STDERR_FILENO)),
      apart_(on_terminal_ ? Clock::duration(kOnTerminal) : Clock::duration(elsewhere)),
      next_(Clock::now() + apart_) {
  if (on_terminal_) std::signal(SIGCONT, on_continue);
}

StatusLine::~StatusLine() {
  if (!shown_.empty()) std::fputc('\n', stderr);
}

TerminalSize StatusLine::room_below() const {
  const TerminalSize size = terminal_size(STDERR_FILENO);
  // The last column stays free, so that no terminal begins another line after it; so does a row, in which
  // whatever is printed next can stand.
  return {std::max(1, size.columns - 1), std::max(0, size.rows - 2)};
}

bool StatusLine::is_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + apart_;
  return true;
}

/// From the beginning of the last line shown to that of the first. Where the terminal has become narrower
/// since, it has folded lines into several rows, as most do.
std::string StatusLine::way_back(int columns) const {
  int rows = 0;
  for (std::size_t i = 0; i + 1 < shown_.size(); ++i)
    rows += std::max(1, (shown_[i] + columns - 1) / columns);
  return rows > 0 ? fmt::format("\r\x1b[{}A", rows) : "\r";
}

void StatusLine::show(double share, const std::string& text, const std::vector<std::string>& below) {
  if (!on_terminal_) {
    spdlog::info(text);
    return;
  }
  if (continued != 0) shown_.clear();
  continued = 0;
  std::vector<std::string> lines{with_bar(share, text, room_below().columns)};
  lines.insert(lines.end(), below.begin(), below.end());
  std::string bytes = way_back(terminal_size(STDERR_FILENO).columns).append(kCutLines);
  shown_.clear();
  // A row is cleared before it is written: what is cleared behind a line would fold with it.
  for (const std::string& line : lines) {
    bytes += fmt::format("{}\x1b[K{}", shown_.empty() ? "" : "\n", line);
    shown_.push_back(display_width(line));
  }
  // The cursor waits where the echo of a key does no harm.
  print(bytes.append("\x1b[J\r").append(kWrapLines));
}

void StatusLine::clear() {
  if (shown_.empty()) return;
  print(way_back(terminal_size(STDERR_FILENO).columns) + "\x1b[J");
  shown_.clear();
}

}  // namespace tapehead::app
