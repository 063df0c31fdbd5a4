// Texts that the page is made of; the source is made by embed.cmake.
#pragma once
#include <string_view>

namespace falcon::analysis::texts {

extern const std::string_view d3, page_css, draw_js, page_js;

}  // namespace falcon::analysis::texts
