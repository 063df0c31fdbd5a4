// Words and text for messages.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace falcon::base {

/// The word of `words` nearest to `word` (Damerau-Levenshtein without regard to case), or "" when
/// none is near enough to be a typing error (distance above max(1, length / 3)).
std::string nearest(std::string_view word, std::span<const std::string> words);

/// "a, b or c".
std::string join_or(std::span<const std::string> words);
std::string join(std::span<const std::string> words, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);

/// For messages: control characters and invalid UTF-8 escaped as \xNN, cut after `limit` bytes with
/// "... (N bytes)".
std::string printable(std::string_view text, std::size_t limit = 60);

/// Blanks and the like stand as \040 in the kernel's mount tables.
std::string octal_unescaped(std::string_view text);

/// Length of the valid UTF-8 sequence at text[0] (1 to 4; no overlong forms, no surrogates), or 0.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

/// Shortest decimal text that reads back as the same double; whole numbers below 1e15 in full.
std::string number_text(double number);

}  // namespace falcon::base
