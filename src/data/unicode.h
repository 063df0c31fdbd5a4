// Unicode properties of characters, over utf8proc: what the tokenizer and the scoring of answers
// need. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace falcon::data::unicode {

/// The character at text[at], whose bytes are valid UTF-8; `at` moves behind it.
char32_t next(std::string_view text, std::size_t& at);
void append(std::string& text, char32_t c);
/// Characters of valid UTF-8.
std::int64_t length(std::string_view text);
/// Bytes of the first `characters` characters of valid UTF-8; of all when there are fewer.
std::size_t bytes_of(std::string_view text, std::int64_t characters);

enum class Kind { kLetter, kNumber, kNonspacingMark, kPunctuation, kDropped, kOther };
/// kDropped: control (Cc), format (Cf) and private use (Co).
Kind kind(char32_t c);
bool is_white_space(char32_t c);   // the property White_Space
bool is_python_space(char32_t c);  // Python's str.isspace(): the separators 0x1C to 0x1F, too
bool is_ideograph(char32_t c);     // the blocks that BERT takes as one word a character
int combining_class(char32_t c);
char32_t lower(char32_t c);  // simple mapping
/// As Python's str.lower(): a capital sigma at the end of a word becomes the final one, U+0130
/// becomes two characters. REQUIRES: valid UTF-8.
std::string lower_text(std::string_view text);
/// Canonical decomposition, in full; at most out.size() characters, at least 1. REQUIRES:
/// out.size() >= 8.
std::size_t decompose(char32_t c, std::span<char32_t> out);

}  // namespace falcon::data::unicode
