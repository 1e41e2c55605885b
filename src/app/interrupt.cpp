#include "tapehead/app/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace tapehead::app {

namespace {

volatile std::sig_atomic_t wished = 0;

void on_signal(int signal) {
  wished = 1;
  constexpr char notice[] = "\nfinishing what was begun; once more to stop at once\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, notice, sizeof(notice) - 1);
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_for_interrupt() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupt_wished() { return wished != 0; }

}  // namespace tapehead::app
