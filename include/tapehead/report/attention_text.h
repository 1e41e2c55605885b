/// A head's attention on one sequence as lines of characters, for a terminal or a file.
#pragma once

#include <string>
#include <vector>

#include "tapehead/interp/attention_map.h"

namespace tapehead {

/// What a cell is shaded with: characters, or colours of a terminal that has 256 or all of them.
enum class Shading { characters, colours_256, all_colours };

/// Rows are queries and columns keys, two characters each, with the tokens' signs and positions on both axes;
/// a legend of the shades follows. `targets` are the keys to mark for each query (see induction_targets).
/// `columns` is how wide a line may be, 0 for any width: positions that do not fit are left out, which is
/// said. Signs may hold any bytes; none that are not shown come out.
std::string attention_text(const AttentionMap& map, const std::vector<std::string>& signs,
                           const std::vector<std::vector<Index>>& targets,
                           Shading shading = Shading::characters, int columns = 0);

}  // namespace tapehead
