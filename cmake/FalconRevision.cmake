# falcon_revision: a source holding the version and the git revision, remade only when the revision changes.
include_guard(GLOBAL)
add_custom_target(falcon_revision_check ALL
  COMMAND ${CMAKE_COMMAND} -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "VERSION=${PROJECT_VERSION}"
    -D "OUTPUT=${PROJECT_BINARY_DIR}/generated/revision.cpp" -P "${PROJECT_SOURCE_DIR}/cmake/write_revision.cmake"
  BYPRODUCTS "${PROJECT_BINARY_DIR}/generated/revision.cpp" COMMENT "")
