// What was built: the version and the git revision (made by cmake/write_revision.cmake).
#pragma once

namespace falcon::base {
const char* version();   // e.g. 0.1.0
const char* revision();  // git describe --always --dirty, or "unknown"
}  // namespace falcon::base
