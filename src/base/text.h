// Words and text for messages.
#pragma once
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

/// Shortest decimal text that reads back as the same double.
std::string number_text(double number);

}  // namespace falcon::base
