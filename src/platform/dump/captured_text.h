// The bytes of a file as the text that a program once printed.
#pragma once
#include <string>
#include <string_view>

namespace falcon::platform {

/// UTF-8 without a byte order mark; UTF-16 with one is converted. Bytes that are no text become
/// question marks, as the answers that are printed must be UTF-8.
std::string as_utf8(std::string_view bytes);

/// Without what issues, mails and notes put around an output: fences (```), quotation marks before
/// every line, an indentation that all lines share.
std::string without_wrapping(std::string_view text);

}  // namespace falcon::platform
