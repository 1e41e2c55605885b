#include "tapehead/nn/edits.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// 1 where the value of a site belongs to one head, else 0.
Tensor head_region(const Site& site, const Shape& shape, Index heads) {
  Tensor region(shape);
  const bool is_pattern = site.kind == SiteKind::pattern;
  const Index run = is_pattern ? shape[2] * shape[3] : shape[2] / heads;
  for (Index start = site.head * run; start < shape.count(); start += heads * run)
    std::fill_n(region.data() + start, run, Real{1});
  return region;
}

/// 1 at these positions of a site, else 0. Positions are the last axis but one: of a pattern, the queries.
Tensor position_region(const Site& site, const Shape& shape, const std::vector<Index>& positions) {
  Tensor region(shape);
  const Index row = shape[-1];
  const Index rows = shape[-2];
  for (const Index position : positions) {
    require(position >= 0 && position < rows, "[edits] no position {} at {}, which has {}", position, site,
            rows);
    for (Index start = position * row; start < shape.count(); start += rows * row)
      std::fill_n(region.data() + start, row, Real{1});
  }
  return region;
}

/// The rows of the sequences from `first` on, as many as `shape` has.
Variable rows_put(const Site& site, const Tensor& whole, const Shape& shape, Index first) {
  require(whole.shape().rank() == shape.rank() && whole.shape().with(0, 1) == shape.with(0, 1) &&
              first + shape[0] <= whole.shape()[0],
          "[edits] the values put at {} have shape {}, which has nothing for sequences {} to {} of shape {}",
          site, whole.shape(), first, first + shape[0] - 1, shape);
  const Real* start = whole.data() + first * (shape.count() / shape[0]);
  return Variable(Tensor(shape, std::span(start, static_cast<std::size_t>(shape.count()))));
}

/// The mean over the first axis of `reference`, added up in double, and in place of each row of the second to
/// last axis the mean of them all, where positions count too.
Tensor mean_row(const Tensor& reference, MeanOver over) {
  const Shape& shape = reference.shape();
  const Index count = reference.count() / shape[0];
  std::vector<double> sums(static_cast<std::size_t>(count), 0);
  for (Index i = 0; i < reference.count(); ++i)
    sums[static_cast<std::size_t>(i % count)] += static_cast<double>(reference.data()[i]);
  const Index positions = over == MeanOver::sequences ? 1 : shape[-2];
  const Index width = shape[-1];
  Tensor row(shape.with(0, 1));
  for (Index i = 0; i < count; ++i) {
    const Index first = i / (positions * width) * positions * width + i % width;
    double sum = 0;
    for (Index t = 0; t < positions; ++t)
      sum += sums[static_cast<std::size_t>(over == MeanOver::sequences ? i : first + t * width)];
    row.data()[i] = static_cast<Real>(sum / static_cast<double>(shape[0] * positions));
  }
  return row;
}

}  // namespace

Edits& Edits::replace(const Site& site, Replacement replacement) {
  edits_.push_back({site, std::move(replacement)});
  return *this;
}

Edits& Edits::zero(const Site& site) {
  return replace(site, [](const Variable& value, Index) { return Variable(Tensor(value.shape())); });
}

Edits& Edits::scale(const Site& site, Real factor) {
  return replace(site, [factor](const Variable& value, Index) { return tapehead::scale(value, factor); });
}

Edits& Edits::put(const Site& site, Tensor values) {
  const auto rows = std::make_shared<const Tensor>(std::move(values));
  return replace(site, [site, rows](const Variable& value, Index first) {
    return rows_put(site, *rows, value.shape(), first);
  });
}

Edits& Edits::put(const Site& site, Tensor values, std::vector<Index> positions) {
  require(!positions.empty(), "[edits] expected at least one position for the values put at {}", site);
  const auto rows = std::make_shared<const Tensor>(std::move(values));
  return replace(site, [site, rows, positions](const Variable& value, Index first) {
    return where(position_region(site, value.shape(), positions), rows_put(site, *rows, value.shape(), first),
                 value);
  });
}

Edits& Edits::mean(const Site& site, const Tensor& reference, MeanOver over) {
  require(reference.shape().rank() >= 2 && reference.count() > 0,
          "[edits] expected a reference with at least one sequence for the mean of {}, got {}", site,
          reference.shape());
  const auto row = std::make_shared<const Tensor>(mean_row(reference, over));
  return replace(site, [site, row](const Variable& value, Index) {
    const Shape& shape = value.shape();
    require(shape.with(0, 1) == row->shape(),
            "[edits] the mean put at {} is of values {}, and does not fit those of shape {}", site,
            row->shape().with(0, shape[0]), shape);
    Tensor rows = Tensor::uninitialised(shape);
    for (Index b = 0; b < shape[0]; ++b)
      std::copy_n(row->data(), row->count(), rows.data() + b * row->count());
    return Variable(std::move(rows));
  });
}

void Edits::check(const ModelConfig& config) const {
  for (const Edit& edit : edits_) require_site(edit.site, config);
}

Variable Edits::visit(const Visit& at, const Variable& value) {
  Variable result = value;
  for (const Edit& edit : edits_) {
    if (edit.site.kind != at.site.kind || edit.site.layer != at.site.layer) continue;
    const Variable replaced = edit.replacement(result, at.first_sequence);
    require(replaced && replaced.shape() == value.shape(),
            "[edits] an edit of {} must keep its shape {}, it gave {}", edit.site, value.shape(),
            replaced ? replaced.shape() : Shape{0});
    result = edit.site.head == kAllHeads
                 ? replaced
                 : where(head_region(edit.site, value.shape(), at.heads), replaced, result);
  }
  return result;
}

void Edits::finish(const std::vector<Site>& visited) const {
  for (const Edit& edit : edits_) {
    const Site place{edit.site.kind, edit.site.layer, kAllHeads};
    require(std::find(visited.begin(), visited.end(), place) != visited.end(),
            "[edits] the edit of {} never took effect: the pass did not come by that site", edit.site);
  }
}

}  // namespace tapehead
