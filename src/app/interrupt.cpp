#include "tapehead/app/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace tapehead::app {

namespace {

volatile std::sig_atomic_t wished = 0;
volatile std::sig_atomic_t answered = 0;

void on_signal(int signal) {
  wished = 1;
  std::signal(signal, SIG_DFL);
  if (answered != 0) return;
  answered = 1;
  constexpr char notice[] = "\nfinishing what was begun; once more to stop at once\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, notice, sizeof(notice) - 1);
}

}  // namespace

void watch_for_interrupt(bool quiet) {
  answered = quiet ? 1 : 0;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) std::signal(signal, on_signal);
}

bool interrupt_wished() { return wished != 0; }

}  // namespace tapehead::app
