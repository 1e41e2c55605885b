/// What one head looks at in one sequence, drawn large.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/interp/attention_map.h"
#include "tapehead/report/gnuplot.h"
#include "tapehead/train/config.h"

namespace tapehead {

/// The longest sequence that is drawn whole, in positions.
inline constexpr Index kLongestMap = 1024;

/// Rows are queries and columns keys, on one scale of blues; keys after the query are grey. The axes have the
/// tokens' signs as long as they can be read, and positions beyond. `targets` are the keys to mark for each
/// query (see induction_targets), which is done where there is room for marks. `where` names the sequence, as
/// in "sequence 3 of the evaluation batch". Of a longer sequence than kLongestMap its beginning is drawn.
Figure head_map_figure(const AttentionMap& map, const std::vector<std::string>& signs,
                       const std::vector<std::vector<Index>>& targets, std::string_view where,
                       const Config& config, Index step);

}  // namespace tapehead
