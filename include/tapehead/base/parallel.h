/// The one parallel loop of the program.
#pragma once

#include <functional>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// Runs body(0), ..., body(count - 1), each once, on up to `threads` threads of one process-wide pool.
///
/// Which thread takes which index is open, so a body may write only what belongs to its index; then the
/// result has the same bits for any number of threads. A call from inside a body runs on that body's thread.
/// If bodies throw, all others still run, and the exception of the lowest index is rethrown.
/// Throws Error if threads < 1.
void parallel_for(Index count, int threads, const std::function<void(Index)>& body);

/// Runs body(begin, end) over chunks of 0, ..., count - 1 that do not depend on `threads`, all of them on the
/// calling thread where there is too little to share. Throws as parallel_for does.
void for_each_chunk(Index count, int threads, const std::function<void(Index, Index)>& body);
/// The sum of part(begin, end) over the same chunks, added up in their order.
double sum_over_chunks(Index count, int threads, const std::function<double(Index, Index)>& part);

/// The processors that this process may run on, by their numbers; empty where the system does not say.
std::vector<int> usable_processors();
/// The number of threads that run at once here.
int hardware_threads();

}  // namespace tapehead
