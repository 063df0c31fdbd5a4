#include "platform/dump/xml.h"

#include <algorithm>

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::platform {

void parse_xml(std::string_view text, pugi::xml_document& document) {
  const pugi::xml_parse_result result = document.load_buffer(text.data(), text.size());
  if (result) return;
  const auto offset = std::min(static_cast<std::size_t>(result.offset), text.size());
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  throw Error(ExitCode::kUsage, "not whole XML: " + std::string(result.description()) + " (line " +
                                    std::to_string(line) + ")");
}

std::string xml_root_name(std::string_view text) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    if (text.substr(at).starts_with("<!--")) {
      at = text.find("-->", at);
      if (at == std::string_view::npos) return "";
      continue;
    }
    if (at + 1 < text.size() && (text[at + 1] == '?' || text[at + 1] == '!')) continue;
    const std::size_t end = text.find_first_of(" \t\r\n/>", at + 1);
    return std::string(text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
  }
  return "";
}

std::string attribute(pugi::xml_node node, const char* name) {
  return node.attribute(name).as_string();
}

std::optional<std::string> element_text(pugi::xml_node node, const char* path) {
  const pugi::xml_node found = node.first_element_by_path(path);
  if (!found) return {};
  return std::string(base::trim(found.text().as_string()));
}

}  // namespace falcon::platform
