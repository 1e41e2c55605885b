/// A figure from the words around its plots and the size that is asked for. The width is kept to: words break
/// into lines, and whoever draws the plots lays them out anew. The height follows from that, unless it is
/// asked for too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/style.h"

namespace tapehead {

struct ColouredWords {
  std::string text;
  std::string_view colour = kGrey;
};

/// The words around the plots.
struct Caption {
  std::string title;
  std::string subtitle;
  std::vector<ColouredWords> key = {};      ///< what colours stand for, above the plots
  std::vector<ColouredWords> remarks = {};  ///< below them, a paragraph each
};

/// The height that all plots of a figure need, in pixels.
struct PlotHeights {
  int around = 0;  ///< of axes, titles and gaps
  int plots = 0;   ///< of the plots themselves, where no height is asked for
  int least = 0;   ///< to which they can be pressed together
};

/// A figure with its words, and the room for its plots.
struct Sheet {
  Figure figure;
  int top = 0;    ///< where axes, titles and plots may begin
  int plots = 0;  ///< how high the plots themselves are, all together
};

/// Throws Error, with the least height, for one that is asked for and too low.
Sheet start_sheet(std::string name, const FigureSize& size, const Caption& caption,
                  const PlotHeights& heights);

}  // namespace tapehead
