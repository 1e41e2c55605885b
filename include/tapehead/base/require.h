/// Errors in words: `require` for what the caller got wrong, `ensure` for what we got wrong.
///
/// A message says where, what was expected, what came, and what to do about it:
///     [attention] expected width to be divisible by heads, got width 90 and 4 heads
/// The library throws and never logs; the command line is the only place that catches.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tapehead {

/// The caller's mistake, or a fault of the outside world (a file, a disk).
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A wrong call or a wrong config: nothing was started, nothing was written.
class UsageError : public Error {
  using Error::Error;
};

/// Our mistake: a promise inside the library was broken.
class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws Error with the formatted message unless `condition` holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) [[unlikely]]
    throw Error(fmt::format(message, std::forward<Args>(args)...));
}

/// Throws InternalError with the formatted message unless `condition` holds.
template <class... Args>
void ensure(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) [[unlikely]]
    throw InternalError(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace tapehead
