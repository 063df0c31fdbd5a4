# Texts that the program carries: the page's own script and style, and d3 of Debian's libjs-d3 (BSD licence), as C++
# raw strings in one source of the build folder.
find_file(FALCONBENCH_D3 d3.min.js PATHS /usr/share/javascript/d3 NO_DEFAULT_PATH REQUIRED)
set(_texts d3 "${FALCONBENCH_D3}" page_css "${CMAKE_CURRENT_SOURCE_DIR}/page/page.css"
  draw_js "${CMAKE_CURRENT_SOURCE_DIR}/page/draw.js" page_js "${CMAKE_CURRENT_SOURCE_DIR}/page/page.js")
set(_source "#include \"analysis/page_texts.h\"\n\nnamespace falcon::analysis::texts {\n\n")
while(_texts)
  list(POP_FRONT _texts _name _file)
  file(READ "${_file}" _text)
  string(APPEND _source "const std::string_view ${_name} = R\"FALCON(${_text})FALCON\";\n\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_file}")
endwhile()
string(APPEND _source "}  // namespace falcon::analysis::texts\n")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/page_texts.cpp.new" "${_source}")
configure_file("${CMAKE_CURRENT_BINARY_DIR}/page_texts.cpp.new" "${CMAKE_CURRENT_BINARY_DIR}/page_texts.cpp" COPYONLY)
