// Lines of a captured text: without line ends of either kind and without terminal escapes.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace falcon::platform {

std::vector<std::string> clean_lines(std::string_view text);
/// The same without a last line that has no end.
std::vector<std::string> whole_lines(std::string_view text);
/// Words between runs of blanks and tabs.
std::vector<std::string> words_of(std::string_view line);
/// "key : value" with blanks around both; nothing without a colon that a blank or the end follows.
std::optional<std::pair<std::string, std::string>> key_and_value(std::string_view line);
/// Number of blanks and tabs before the first other character.
std::size_t indentation(std::string_view line);
/// The whole number that begins a text: "16x" -> 16, "[N/A]" -> nothing.
std::optional<int> leading_number(std::string_view text);
std::optional<double> leading_real(std::string_view text);
/// Sorted whole numbers as a list of ranges: "0-3,8".
std::string list_text(const std::vector<int>& numbers);

}  // namespace falcon::platform
