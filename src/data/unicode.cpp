#include "data/unicode.h"

#include <algorithm>
#include <array>

#include <utf8proc.h>

namespace falcon::data::unicode {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kSigma = 0x3C3;
constexpr char32_t kFinalSigma = 0x3C2;
constexpr char32_t kDottedCapitalI = 0x130;
constexpr char32_t kDotAbove = 0x307;

struct Block {
  char32_t first, last;
};

bool is_in(std::span<const Block> blocks, char32_t c) {
  return std::ranges::any_of(
      blocks, [&](const Block& block) { return c >= block.first && c <= block.last; });
}

// The property Cased, for what is not Case_Ignorable.
bool is_cased(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      break;
  }
  constexpr Block kOthers[] = {{0xAA, 0xAA},      {0xBA, 0xBA},       {0x2160, 0x217F},
                               {0x24B6, 0x24E9},  {0x1F130, 0x1F149}, {0x1F150, 0x1F169},
                               {0x1F170, 0x1F189}};
  return is_in(kOthers, c);
}

// The property Case_Ignorable: marks, modifiers, and what may stand within a word.
bool is_case_ignorable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      break;
  }
  constexpr std::u32string_view kWithinWords =
      U"\'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  return kWithinWords.find(c) != std::u32string_view::npos;
}

// The condition Final_Sigma: a cased letter before it and none behind it, ignorables apart.
bool is_final(const std::u32string& text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t behind = at + 1;
  while (behind < text.size() && is_case_ignorable(text[behind])) ++behind;
  return behind == text.size() || !is_cased(text[behind]);
}

}  // namespace

char32_t next(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) {
    ++at;
    return lead;
  }
  const std::size_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  char32_t c = lead & (0x3FU >> more);
  for (std::size_t i = 1; i <= more; ++i) c = (c << 6) | (byte(i) & 0x3FU);
  at += more + 1;
  return c;
}

void append(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(count));
}

std::int64_t length(std::string_view text) {
  std::int64_t count = 0;
  for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U ? 1 : 0;
  return count;
}

std::size_t bytes_of(std::string_view text, std::int64_t characters) {
  std::size_t at = 0;
  for (; characters > 0 && at < text.size(); --characters) next(text, at);
  return at;
}

Kind kind(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Kind::kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Kind::kNumber;
    case UTF8PROC_CATEGORY_MN:
      return Kind::kNonspacingMark;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return Kind::kPunctuation;
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
      return Kind::kDropped;
    default:
      return Kind::kOther;
  }
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_python_space(char32_t c) {
  return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

bool is_ideograph(char32_t c) {
  constexpr Block kBlocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                               {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                               {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return c >= kBlocks[0].first && is_in(kBlocks, c);
}

int combining_class(char32_t c) {
  return static_cast<int>(utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class);
}

char32_t lower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

std::string lower_text(std::string_view text) {
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) characters += next(text, at);
  std::string out;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i];
    if (c == kCapitalSigma) {
      append(out, is_final(characters, i) ? kFinalSigma : kSigma);
    } else {
      append(out, lower(c));
      if (c == kDottedCapitalI) append(out, kDotAbove);
    }
  }
  return out;
}

std::size_t decompose(char32_t c, std::span<char32_t> out) {
  std::array<utf8proc_int32_t, 32> parts{};
  int last_boundclass = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(c), parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
      UTF8PROC_DECOMPOSE, &last_boundclass);
  if (count <= 0) {  // not assigned
    out[0] = c;
    return 1;
  }
  const std::size_t kept = std::min(static_cast<std::size_t>(count), out.size());
  for (std::size_t i = 0; i < kept; ++i) out[i] = static_cast<char32_t>(parts[i]);
  return kept;
}

}  // namespace falcon::data::unicode
