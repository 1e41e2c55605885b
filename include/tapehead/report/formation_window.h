/// The steps in which the heads of a run form, as a shade behind every plot over steps.
#pragma once

#include <string>
#include <vector>

#include "tapehead/report/style.h"
#include "tapehead/study/formation.h"

namespace tapehead {

/// What the shade is; empty for a formation of which nothing is known.
std::string formation_in_words(const Formation& formation);

/// Shades from onset to done (to the last step, if it has no end yet) behind all plots that follow.
void shade_formation(Figure& figure, const Formation& formation);

/// The words in lines that fit above plots in a figure of this width.
std::vector<std::string> formation_lines(const Formation& formation, int width);
/// Writes these lines above a panel, over the middle of its shade.
void name_formation(Figure& figure, const Panel& panel, const Formation& formation);

}  // namespace tapehead
