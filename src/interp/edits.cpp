#include "tapehead/interp/edits.h"

#include <algorithm>

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
