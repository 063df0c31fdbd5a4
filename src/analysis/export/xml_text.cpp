#include "analysis/export/xml_text.h"

#include "base/text.h"

namespace falcon::analysis {
namespace {

std::string hex(unsigned char byte) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = base::utf8_length(text);
    const std::string_view piece = text.substr(0, length == 0 ? 1 : length);
    const auto byte = static_cast<unsigned char>(piece.front());
    text.remove_prefix(piece.size());
    const bool is_noncharacter = piece == "\xEF\xBF\xBE" || piece == "\xEF\xBF\xBF";
    if (length == 0 || (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r')) {
      out += hex(byte);
    } else if (is_noncharacter ||
               std::string_view("<>&\"'\t\n\r").find(piece.front()) != std::string_view::npos) {
      out += is_noncharacter ? std::string("?") : "&#" + std::to_string(byte) + ";";
    } else {
      out += piece;
    }
  }
  return out;
}

}  // namespace falcon::analysis
