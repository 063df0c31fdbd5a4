# cmake --install build --prefix DIR: a tree that can be moved. bin/falconbench finds lib/falconbench/libfalconbench_engine.so beside it;
# that one looks for LibTorch where it was at build time, or in FALCONBENCH_LIBTORCH.
include_guard(GLOBAL)
if(TARGET falconbench)
  install(TARGETS falconbench RUNTIME DESTINATION bin)
  install(DIRECTORY configs schemas DESTINATION share/falconbench)
  install(FILES LICENSE README.md DESTINATION share/doc/falconbench)
endif()
