/// Several ranks in one process, a thread each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tapehead/base/ranks.h"

namespace tapehead::testing {

/// Runs body(ranks) as every rank of `count`; returns what each of them complained of, empty for nothing.
/// Every body has to come to its end: one that fails alone leaves the others waiting.
std::vector<std::string> on_ranks(int count, const std::function<void(Ranks&)>& body);

/// The same for a body that may not fail.
void check_on_ranks(int count, const std::function<void(Ranks&)>& body);

}  // namespace tapehead::testing
