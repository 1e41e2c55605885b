#include "tapehead/train/fault_finder.h"

#include <fmt/format.h>

#include <algorithm>

namespace tapehead {

Variable FaultFinder::visit(const Visit& at, const Variable& value) {
  reached_.emplace_back(at.site, tape_->size());
  return value;
}

std::string FaultFinder::finding() const {
  const auto& fault = tape_->fault();
  if (!fault) return "";
  const auto next =
      std::ranges::find_if(reached_, [&](const auto& place) { return place.second > fault->step; });
  const std::string place = next == reached_.end() ? "the loss" : to_string(next->first);
  return fault->backward ? fmt::format("the backward pass of {}, the op that leads to {}, made the first",
                                       fault->op, place)
                         : fmt::format("{}, the op that leads to {}, made the first", fault->op, place);
}

}  // namespace tapehead
