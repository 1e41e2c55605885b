/// What machine this is.
#pragma once

#include <string>

namespace tapehead {

/// As in "AMD EPYC 9R14, 2 threads": the processor as the system names it, and how many threads run at once.
std::string machine();
/// The processor alone.
std::string processor();

}  // namespace tapehead
