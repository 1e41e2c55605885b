/// The bar that says which colour is which number, below maps or beside them.
#pragma once

#include <string_view>

#include "tapehead/report/style.h"

namespace tapehead {

/// What it takes below maps or beside them, in pixels.
inline constexpr int kScaleHeight = 40;
inline constexpr int kScaleWidth = 84;

/// Draws the palette with the next plot, with a number every `tics`, behind the name, which begins here.
void show_scale_below(Figure& figure, std::string_view name, int left, int top, double tics);

/// The same beside maps, from top to bottom, with the name to the right.
void show_scale_beside(Figure& figure, std::string_view name, int left, int top, int bottom, double tics);

}  // namespace tapehead
