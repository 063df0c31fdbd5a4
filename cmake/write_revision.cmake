# Writes OUTPUT with VERSION and the git revision of SOURCE; leaves the file alone when nothing changed.
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT revision)
  set(revision "unknown")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#include "base/revision.h"

namespace falcon::base {
const char* version() { return "@VERSION@"; }
const char* revision() { return "@revision@"; }
}  // namespace falcon::base
]])
