/// The steps in which the heads of a run form, as a shade behind every plot over steps.
#pragma once

#include "tapehead/report/style.h"
#include "tapehead/study/formation.h"

namespace tapehead {

/// Shades from onset to done (to the last step, if it has no end yet) behind all plots that follow, and says
/// above the first of them what the shade is. A formation of which nothing is known shows nothing.
void shade_formation(Figure& figure, const Formation& formation);

}  // namespace tapehead
