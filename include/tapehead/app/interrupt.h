/// Ctrl-C as a wish to stop after the current step. A second one ends the program at once.
#pragma once

namespace tapehead::app {

/// From here on SIGINT and SIGTERM are taken as that wish.
void watch_for_interrupt();
bool interrupt_wished();

}  // namespace tapehead::app
