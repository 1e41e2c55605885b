/// Names as they can be pasted into a shell.
#pragma once

#include <string>

namespace tapehead {

/// The path as one word of a POSIX shell that no program takes for an option: quoted where it has to be.
std::string shell_word(const std::string& path);

}  // namespace tapehead
