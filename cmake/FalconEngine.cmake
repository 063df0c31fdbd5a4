# Everything that sees Torch: LibTorch of the wheels, CUDA where there is an nvcc, and falcon_engine_library().
include_guard(GLOBAL)
if(FALCONBENCH_LIBTORCH)
  set(LibTorch_ROOT "${FALCONBENCH_LIBTORCH}")
endif()

# nvcc: the toolkit's, else the one of the wheels beside LibTorch.
if(NOT CMAKE_CUDA_COMPILER)
  find_program(FALCONBENCH_NVCC nvcc PATHS ENV CUDA_HOME /usr/local/cuda/bin
    "${PROJECT_SOURCE_DIR}/.deps/nvidia/cu13/bin")
  if(FALCONBENCH_NVCC)
    set(CMAKE_CUDA_COMPILER "${FALCONBENCH_NVCC}")
  endif()
endif()
if(CMAKE_CUDA_COMPILER)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)   # Ampere, Hopper, and PTX for what comes after
  endif()
  enable_language(CUDA)
  if(NOT "cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)   # CMake 3.25.1 does not know that nvcc >= 12 has it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)   # one runtime in the process: LibTorch's libcudart
  set(FALCONBENCH_CUDA ON)
else()
  set(FALCONBENCH_CUDA OFF)
endif()
message(STATUS "CUDA kernels: ${FALCONBENCH_CUDA} (${CMAKE_CUDA_COMPILER})")

file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/wheels.txt" _torch_pin REGEX "^torch==")
string(REPLACE "torch==" "" FALCONBENCH_TORCH_VERSION "${_torch_pin}")
find_package(LibTorch ${FALCONBENCH_TORCH_VERSION} REQUIRED)

# falcon_engine_library(<folder> SOURCES ... [LINK ...]): like falcon_library, for code that includes Torch headers.
function(falcon_engine_library folder)
  falcon_library(${folder} ${ARGN})
  target_link_libraries(falcon_${folder} PUBLIC LibTorch::CUDA)
endfunction()
