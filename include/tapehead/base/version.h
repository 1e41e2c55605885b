/// Which Tapehead this is.
#pragma once

namespace tapehead {

/// As in "0.1.0".
const char* version();

}  // namespace tapehead
