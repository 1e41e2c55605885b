#include "tapehead/app/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tapehead::app {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool is_terminal(int stream) {
  const std::string_view type = variable("TERM");
  return isatty(stream) == 1 && !type.empty() && type != "dumb";
}

TerminalSize terminal_size(int stream) {
  TerminalSize size;
  winsize window{};
  if (ioctl(stream, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.columns = window.ws_col;
  if (window.ws_row > 0) size.rows = window.ws_row;
  return size;
}

Shading shading_of(int stream) {
  if (!is_terminal(stream) || !variable("NO_COLOR").empty()) return Shading::characters;
  const std::string_view colours = variable("COLORTERM");
  if (colours == "truecolor" || colours == "24bit") return Shading::all_colours;
  return variable("TERM").find("256color") != std::string_view::npos ? Shading::colours_256
                                                                     : Shading::characters;
}

}  // namespace tapehead::app
