#include "tapehead/autograd/parameters.h"

#include <utility>

#include "tapehead/base/nearest.h"
#include "tapehead/base/random.h"
#include "tapehead/base/require.h"

namespace tapehead {

Parameter Parameter::rows(Index first, Index count) const {
  require(shape.rank() >= 1 && first >= 0 && count >= 0 && first <= shape[0] - count,
          "[parameter] no rows {} to {} in {}", first, first + count, shape);
  const Index row = shape[0] == 0 ? 0 : shape.count() / shape[0];
  return {owner, offset + first * row, shape.with(0, count)};
}

const Real* Parameter::data() const {
  ensure(owner != nullptr, "[parameter] a window without parameters");
  require(owner->count() == static_cast<Index>(owner->values().size()),
          "[parameter] the parameters have no values yet: call initialise first");
  return owner->data() + offset;
}

Parameter Parameters::add(std::string name, const Shape& shape, Start start) {
  require(values_.count() == 0, "[parameters] {} comes too late: the parameters are already initialised",
          name);
  require(names_.insert(name).second, "[parameters] the name {} is already taken", name);
  entries_.push_back({std::move(name), shape, count_, start});
  count_ += shape.count();
  return {this, entries_.back().offset, shape};
}

void Parameters::initialise(std::uint64_t seed) {
  if (values_.count() != count_) values_ = Tensor::uninitialised({count_});
  ++version_;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    Generator generator(seed, Purpose::initialisation, 0, static_cast<Index>(i));
    Real* values = values_.data() + entry.offset;
    for (Index j = 0; j < entry.count(); ++j) {
      const double noise = entry.start.deviation == 0 ? 0 : entry.start.deviation * generator.normal();
      values[j] = static_cast<Real>(entry.start.mean + noise);
    }
  }
}

void Parameters::initialise_with_zeros() {
  values_ = Tensor({count_});
  ++version_;
}

Parameter Parameters::find(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries_) {
    if (entry.name == name) return {this, entry.offset, entry.shape};
    names.push_back(entry.name);
  }
  throw Error(fmt::format("[parameters] no parameter {}; the nearest is {}", name, nearest(name, names)));
}

const Parameters::Entry* Parameters::first_not_finite() const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return !all_finite(
        values().subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.count())));
  });
  return found == entries_.end() ? nullptr : &*found;
}

std::span<Real> Parameters::change() {
  ++version_;
  return values_.values();
}

}  // namespace tapehead
