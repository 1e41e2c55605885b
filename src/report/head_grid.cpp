#include "tapehead/report/head_grid.h"

#include <algorithm>

namespace tapehead {

HeadGrid::HeadGrid(const ModelConfig& model, int width, const HeadGridSpacing& spacing)
    : spacing_(spacing), layers_(model.layers) {
  const int room = width - spacing.left - kEdge + spacing.gap;
  const Index most = std::max(1, room / (spacing.least + spacing.gap));
  rows_a_layer_ = (model.heads + most - 1) / most;
  columns_ = (model.heads + rows_a_layer_ - 1) / rows_a_layer_;
  side_ = std::min(room / static_cast<int>(columns_) - spacing.gap, spacing.largest);
}

PlotHeights HeadGrid::heights(int around) const {
  const int count = static_cast<int>(rows());
  return {around + count * (spacing_.above + spacing_.below), count * side_,
          count * std::min(side_, spacing_.least)};
}

void HeadGrid::fit(const Sheet& sheet) {
  top_ = sheet.top;
  side_ = std::min(side_, sheet.plots / static_cast<int>(rows()));
}

int HeadGrid::bottom() const {
  return top_ + static_cast<int>(rows()) * (spacing_.above + side_ + spacing_.below);
}

bool HeadGrid::is_last_row(Index layer, Index head) const { return row_of(layer, head) + 1 == rows(); }

Panel HeadGrid::panel(Index layer, Index head) const {
  const int left = spacing_.left + static_cast<int>(head % columns_) * (side_ + spacing_.gap);
  const int top = top_ + static_cast<int>(row_of(layer, head)) * (spacing_.above + side_ + spacing_.below) +
                  spacing_.above;
  return {left, left + side_, top, top + side_};
}

}  // namespace tapehead
