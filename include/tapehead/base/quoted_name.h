/// Names from outside, as they may stand in a message.
#pragma once

#include <string>
#include <string_view>

namespace tapehead {

/// Text from a file as it may stand in a message: in quotes, shortened, everything but plain ASCII escaped.
std::string quoted_name(std::string_view text);

}  // namespace tapehead
