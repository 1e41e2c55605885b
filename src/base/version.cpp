#include "tapehead/base/version.h"

namespace tapehead {

const char* version() { return TAPEHEAD_VERSION; }

}  // namespace tapehead
