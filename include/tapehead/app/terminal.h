/// What the terminal can do that a stream goes to, if it is one.
#pragma once

#include "tapehead/report/attention_text.h"

namespace tapehead::app {

/// Whether somebody watches the stream (STDOUT_FILENO or STDERR_FILENO) on a terminal that can rewrite what
/// it shows: not one that TERM calls dumb, or says nothing of.
bool is_terminal(int stream);

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};
/// As it is now; of a terminal that does not say, the usual one.
TerminalSize terminal_size(int stream);

/// Colours if the stream is a terminal that has them and NO_COLOR is not set.
Shading shading_of(int stream);

}  // namespace tapehead::app
