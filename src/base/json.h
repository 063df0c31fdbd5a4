// JSON text and values. Parsing keeps the place of every value and refuses duplicate keys, numbers
// that do not fit, more than 100 levels, and anything after the document.
#pragma once
#include <string>
#include <string_view>

#include "base/value.h"

namespace falcon::base {

/// Who wrote a text. In what other programs say a key given twice has its last value, and a whole
/// number beyond 64 bits is read as a real: one odd field does not cost the others.
enum class Author { kOurs, kOthers };

/// Throws InputError (one fault, with line and column in `source`).
Value parse_json(std::string_view text, const std::string& source, Author author = Author::kOurs);

/// One line without `indent`, else pretty. Throws Error(kInternal) on NaN, infinity or invalid
/// UTF-8 with the key's path: a report never holds such a value.
std::string to_json(const Value& value, int indent = -1);

}  // namespace falcon::base
