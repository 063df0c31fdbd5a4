# Locates LibTorch inside the PyPI wheel and the nvidia-* wheels beside it.
#   input : LibTorch_ROOT / env LibTorch_ROOT = the folder holding torch/ and nvidia/ (a site-packages
#           or a `pip install --target` folder); else <source>/.deps; else `python3` on PATH (or
#           LibTorch_PYTHON) is asked.
#   result: LibTorch::LibTorch  LibTorch::CUDA  LibTorch::Distributed
#           LibTorch::cudart ::nccl ::cudnn ::cublas ::nvtx ::nvml ::nvjpeg ::cufile, LibTorch_SITE, LibTorch_RPATH
include_guard(GLOBAL)
include(FindPackageHandleStandardArgs)

set(_lt_hint "${LibTorch_ROOT}")
if(NOT _lt_hint)
  set(_lt_hint "$ENV{LibTorch_ROOT}")
endif()
if(NOT _lt_hint AND EXISTS "${CMAKE_SOURCE_DIR}/.deps/torch/include")   # pip install --target .deps
  set(_lt_hint "${CMAKE_SOURCE_DIR}/.deps")
endif()
if(NOT _lt_hint)
  set(LibTorch_PYTHON python3 CACHE STRING "Python asked where the torch wheel is")
  execute_process(   # find_spec does not import torch: no numpy, sympy, triton needed
    COMMAND ${LibTorch_PYTHON} -c
      "import importlib.util as u,os;print(os.path.dirname(u.find_spec('torch').submodule_search_locations[0]))"
    OUTPUT_VARIABLE _lt_hint OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

find_path(LibTorch_INCLUDE_DIR ATen/core/Tensor.h PATHS "${_lt_hint}/torch/include" NO_DEFAULT_PATH)
foreach(l c10 torch_cpu torch torch_cuda c10_cuda)
  find_library(LibTorch_${l}_LIBRARY ${l} PATHS "${_lt_hint}/torch/lib" NO_DEFAULT_PATH)
endforeach()
if(LibTorch_INCLUDE_DIR)
  file(STRINGS "${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h" _v REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3" LibTorch_VERSION "${_v}")
endif()
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_torch_cpu_LIBRARY LibTorch_c10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION)
if(NOT LibTorch_FOUND)
  return()
endif()
get_filename_component(_lt_site "${LibTorch_INCLUDE_DIR}/../.." ABSOLUTE)
set(LibTorch_SITE "${_lt_site}" CACHE INTERNAL "")

# _lt_import(<target> <library file or ""> <include dirs...>)
function(_lt_import tgt lib)
  if(TARGET LibTorch::${tgt})
    return()
  endif()
  if(lib)
    add_library(LibTorch::${tgt} SHARED IMPORTED GLOBAL)
    set_target_properties(LibTorch::${tgt} PROPERTIES IMPORTED_LOCATION "${lib}")
  else()
    add_library(LibTorch::${tgt} INTERFACE IMPORTED GLOBAL)
  endif()
  target_include_directories(LibTorch::${tgt} SYSTEM INTERFACE ${ARGN})
endfunction()
# _lt_optional(<target> <folder below nvidia/> <library or ""> <header>): target only when both are there
function(_lt_optional tgt sub libname header)
  find_path(LibTorch_${tgt}_INCLUDE ${header}
    PATHS "${_lt_site}/nvidia/${sub}/include" NO_DEFAULT_PATH)
  if(NOT LibTorch_${tgt}_INCLUDE)   # else the toolkit's (never done for nccl and cudnn)
    if(NOT sub MATCHES "nccl|cudnn")
      find_path(LibTorch_${tgt}_INCLUDE ${header} HINTS ${CUDAToolkit_INCLUDE_DIRS} /usr/local/cuda/include)
    endif()
  endif()
  set(lib "")
  if(libname)
    file(GLOB lib "${_lt_site}/nvidia/${sub}/lib/${libname}")
    if(NOT lib)
      return()
    endif()
  endif()
  if(LibTorch_${tgt}_INCLUDE)
    _lt_import(${tgt} "${lib}" "${LibTorch_${tgt}_INCLUDE}")
  endif()
endfunction()

_lt_optional(cudart  cu13  libcudart.so.13    cuda_runtime_api.h)
_lt_optional(cublas  cu13  libcublas.so.13    cublasLt.h)
_lt_optional(cublasLt cu13 libcublasLt.so.13  cublasLt.h)
_lt_optional(cufile  cu13  libcufile.so.0     cufile.h)
_lt_optional(nvjpeg  cu13  libnvjpeg.so.13    nvjpeg.h)     # pip: nvidia-nvjpeg
_lt_optional(nvtx    cu13  ""                 nvtx3/nvtx3.hpp)   # header only, dlopens the tool
_lt_optional(nvml    cu13  ""                 nvml.h)       # pip: nvidia-nvml-dev; dlopen libnvidia-ml.so.1
_lt_optional(nccl    nccl  libnccl.so.2       nccl.h)
_lt_optional(cudnn   cudnn libcudnn.so.9      cudnn.h)
_lt_optional(cudnn_graph cudnn libcudnn_graph.so.9 cudnn_graph.h)

# The wheels' CUDA headers need crt/ (pip: nvidia-cuda-crt); where that wheel is missing, a toolkit of the same CUDA has it.
if(TARGET LibTorch::cudart AND NOT EXISTS "${_lt_site}/nvidia/cu13/include/crt/host_defines.h")
  find_path(LibTorch_CRT_INCLUDE crt/host_defines.h
    HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES include targets/x86_64-linux/include)
  if(LibTorch_CRT_INCLUDE)
    target_include_directories(LibTorch::cudart SYSTEM INTERFACE "${LibTorch_CRT_INCLUDE}")
  endif()
endif()

_lt_import(c10 "${LibTorch_c10_LIBRARY}" "${LibTorch_INCLUDE_DIR}")
_lt_import(LibTorch "${LibTorch_torch_cpu_LIBRARY}" "${LibTorch_INCLUDE_DIR}"
  "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include")
find_package(Threads REQUIRED)
target_link_libraries(LibTorch::LibTorch INTERFACE LibTorch::c10 Threads::Threads)
target_compile_features(LibTorch::LibTorch INTERFACE cxx_std_17)
target_compile_definitions(LibTorch::LibTorch INTERFACE USE_DISTRIBUTED)

if(LibTorch_torch_cuda_LIBRARY AND TARGET LibTorch::cudart AND NOT TARGET LibTorch::CUDA)
  # libtorch_cuda registers its kernels in static constructors: it must stay NEEDED.
  add_library(LibTorch::CUDA INTERFACE IMPORTED GLOBAL)
  target_link_libraries(LibTorch::CUDA INTERFACE LibTorch::LibTorch
    -Wl,--push-state,--no-as-needed
    "${LibTorch_torch_cuda_LIBRARY}" "${LibTorch_c10_cuda_LIBRARY}"
    -Wl,--pop-state LibTorch::cudart)
  foreach(d cu13 cudnn nccl nvshmem cusparselt)   # lets every linker close the libraries' own needs
    target_link_options(LibTorch::CUDA INTERFACE "LINKER:-rpath-link,${_lt_site}/nvidia/${d}/lib")
  endforeach()
  # DT_RPATH, not RUNPATH: it precedes LD_LIBRARY_PATH, so another CUDA or NCCL named there cannot slip in
  target_link_options(LibTorch::CUDA INTERFACE "LINKER:-rpath-link,${_lt_site}/torch/lib" "LINKER:--disable-new-dtags")
endif()

# c10d: definitions the headers want, NCCL headers of the wheel first, gloo stand-ins last
if(NOT TARGET LibTorch::Distributed)
  add_library(LibTorch::Distributed INTERFACE IMPORTED GLOBAL)
  target_link_libraries(LibTorch::Distributed INTERFACE LibTorch::LibTorch)
  target_compile_definitions(LibTorch::Distributed INTERFACE USE_C10D_GLOO)
  find_path(LibTorch_GLOO_INCLUDE gloo/rendezvous/store.h PATHS "${LibTorch_INCLUDE_DIR}" NO_DEFAULT_PATH)
  if(NOT LibTorch_GLOO_INCLUDE)
    target_include_directories(LibTorch::Distributed SYSTEM BEFORE INTERFACE
      "${CMAKE_CURRENT_LIST_DIR}/gloo_stand_ins")
  endif()
  if(TARGET LibTorch::CUDA AND TARGET LibTorch::nccl)
    target_link_libraries(LibTorch::Distributed INTERFACE LibTorch::nccl LibTorch::CUDA)
    target_compile_definitions(LibTorch::Distributed INTERFACE USE_C10D_NCCL)
  endif()
endif()
