/// Where square plots stand, one for every head of a model: a layer's heads side by side, and where the
/// figure is too narrow for all of them, in several rows.
#pragma once

#include "tapehead/report/sheet.h"

namespace tapehead {

/// Pixels.
struct HeadGridSpacing {
  int left;   ///< of the first square
  int gap;    ///< between two
  int above;  ///< each, for its title
  int below;
  int least;    ///< a square's side
  int largest;  ///< likewise
};

class HeadGrid {
 public:
  HeadGrid(const ModelConfig& model, int width, const HeadGridSpacing& spacing);

  /// What the squares need, and as much around them beside their own titles as given.
  PlotHeights heights(int around) const;
  /// Makes the squares as large as the sheet has room for, and begins at its top.
  void fit(const Sheet& sheet);

  int side() const { return side_; }
  Index rows_a_layer() const { return rows_a_layer_; }
  /// Where the last square ends.
  int bottom() const;
  bool is_first_in_row(Index head) const { return head % columns_ == 0; }
  /// Of the squares of the last row.
  bool is_last_row(Index layer, Index head) const;
  Panel panel(Index layer, Index head) const;

 private:
  Index row_of(Index layer, Index head) const { return layer * rows_a_layer_ + head / columns_; }
  Index rows() const { return layers_ * rows_a_layer_; }

  HeadGridSpacing spacing_;
  Index layers_;
  Index columns_;
  Index rows_a_layer_;
  int side_;
  int top_ = 0;
};

}  // namespace tapehead
