// Makes a value fit for strict JSON, so that one odd byte does not cost the whole report.
#pragma once
#include "base/value.h"

namespace falcon::report {

/// Bytes that are no UTF-8 (file names, arguments, output of workers) become \xNN; a number that is
/// not finite becomes null, in an object with <name>_reason beside it.
base::Value writable(const base::Value& value);

}  // namespace falcon::report
