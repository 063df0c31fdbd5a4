# Language level, warnings, sanitizers, compiler cache and job limits for every target of the project.
include_guard(GLOBAL)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(FALCONBENCH_CCACHE ccache)
if(FALCONBENCH_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${FALCONBENCH_CCACHE}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${FALCONBENCH_CCACHE}")
endif()

# A Torch source takes 0.5 to 1.5 GB to compile; ninja would start more jobs than there are cores.
cmake_host_system_information(RESULT _cores QUERY NUMBER_OF_LOGICAL_CORES)
set_property(GLOBAL PROPERTY JOB_POOLS compile=${_cores})
set(CMAKE_JOB_POOL_COMPILE compile)

set(FALCONBENCH_SANITIZE "" CACHE STRING "Sanitizers for the Torch-free code, e.g. address,undefined or thread")
add_library(falcon_settings INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # false alarms inside inlined library code: GCC PR105329 (12), PR107852 and kin (12, 13)
  target_compile_options(falcon_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-maybe-uninitialized>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)   # new there, and demoted by GCC 14 for its false alarms
    target_compile_options(falcon_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
  endif()
endif()
target_compile_options(falcon_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Werror>)
if(FALCONBENCH_SANITIZE)
  target_compile_options(falcon_settings INTERFACE -fsanitize=${FALCONBENCH_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(falcon_settings INTERFACE -fsanitize=${FALCONBENCH_SANITIZE})
endif()
target_include_directories(falcon_settings INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
find_package(Threads REQUIRED)
target_link_libraries(falcon_settings INTERFACE Threads::Threads)

# falcon_library(<folder> SOURCES a.cpp ... [LINK target ...]): the static library falcon_<folder> of one layer folder.
function(falcon_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(falcon_${folder} STATIC ${arg_SOURCES})
  target_link_libraries(falcon_${folder} PUBLIC falcon_settings ${arg_LINK})
endfunction()

# falcon_test(<name> LABEL unit|golden|engine|... SOURCES a_test.cpp ... LINK target ... [ENV K=V ...] [TIMEOUT s]):
# one GoogleTest program, registered with ctest as <name>. OMP_NUM_THREADS=1: two threads of two processes on two cores
# spin at each other's barriers.
function(falcon_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LINK;ENV" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE falcon_settings ${arg_LINK} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "OMP_NUM_THREADS=1;${arg_ENV}" SKIP_REGULAR_EXPRESSION "skipped: no GPU")
endfunction()
