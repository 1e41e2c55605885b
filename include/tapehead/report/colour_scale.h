/// What maps share: their colours, the ground behind them, and the bar that says which colour is which
/// number.
#pragma once

#include <string_view>

#include "tapehead/report/style.h"

namespace tapehead {

/// Blues on white, for the shares from 0 to 1 of the next maps.
void set_share_palette(Figure& figure);

/// A grey ground for the next maps, to be seen where they have no cell.
void set_map_ground(Figure& figure);

/// What the bar takes below maps or beside them, in pixels.
inline constexpr int kScaleHeight = 40;
inline constexpr int kScaleWidth = 84;

/// Draws the palette with the next plot, with a number every `tics`, behind the name, which begins here.
void show_scale_below(Figure& figure, std::string_view name, int left, int top, double tics);

/// The same beside maps, from top to bottom, with the name to the right.
void show_scale_beside(Figure& figure, std::string_view name, int left, int top, int bottom, double tics);

}  // namespace tapehead
