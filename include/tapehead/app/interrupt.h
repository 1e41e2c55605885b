/// Ctrl-C as a wish to stop after the current step. A second one ends the program at once.
#pragma once

namespace tapehead::app {

/// From here on SIGINT and SIGTERM are taken as that wish, and SIGUSR1, which mpirun and Slurm pass on.
/// Unless `quiet`, the first is answered with a word on standard error.
void watch_for_interrupt(bool quiet = false);
bool interrupt_wished();

}  // namespace tapehead::app
