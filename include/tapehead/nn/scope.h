/// Where a module under construction puts its parameters: a prefix in a set of Parameters.
#pragma once

#include <string>

#include "tapehead/autograd/parameters.h"

namespace tapehead {

class Scope {
 public:
  explicit Scope(Parameters& parameters, std::string prefix = {})
      : parameters_(&parameters), prefix_(std::move(prefix)) {}

  /// The scope of a part: names get `.part` added.
  Scope operator/(const std::string& part) const { return Scope(*parameters_, joined(part)); }
  /// Registers `prefix.name`.
  Parameter add(const std::string& name, const Shape& shape, Start start) const {
    return parameters_->add(joined(name), shape, start);
  }

 private:
  std::string joined(const std::string& name) const { return prefix_.empty() ? name : prefix_ + "." + name; }

  Parameters* parameters_;
  std::string prefix_;
};

}  // namespace tapehead
