// XML of the tools that describe machines. The library reads no document type, so no entity of a
// hostile file is ever followed.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <pugixml.hpp>

namespace falcon::platform {

/// Throws Error(kUsage) with the place of the first fault; a file that is cut off is one.
void parse_xml(std::string_view text, pugi::xml_document& document);

/// The name of the first element, without reading more than the beginning; "" when it is no XML.
std::string xml_root_name(std::string_view text);

/// Text of an attribute; "" when there is none.
std::string attribute(pugi::xml_node node, const char* name);
/// Text of the element at a path of names ("pci/pci_bus_id"), trimmed; nothing when it is not
/// there.
std::optional<std::string> element_text(pugi::xml_node node, const char* path);

}  // namespace falcon::platform
