#include "comm/library_versions.h"

#include <string_view>

#include <ATen/Version.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <dlfcn.h>
#include <nccl.h>
#include <torch/headeronly/version.h>

#include <falconbench/errors.h>

namespace falcon::comm {
namespace {

/// File that provides a symbol to this library.
std::string file_of(const char* symbol) {
  Dl_info info{};
  const void* address = ::dlsym(RTLD_DEFAULT, symbol);
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string cuda_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string cudnn_text(std::size_t version) {  // 91900: 9.19.0
  const int number = static_cast<int>(version);
  return dotted(number / 10000, number / 100 % 100, number % 100);
}

std::string nccl_text(int version) {
  return cudnn_text(static_cast<std::size_t>(version));
}

/// LibTorch has no version call; its build settings name it.
Measured<std::string> loaded_torch() {
  const std::string settings = at::show_config();
  constexpr std::string_view kKey = "TORCH_VERSION=";
  const std::size_t at = settings.find(kKey);
  if (at == std::string::npos) {
    return Measured<std::string>::missing("the build settings of the library do not name it");
  }
  const std::size_t begin = at + kKey.size();
  return settings.substr(begin, settings.find_first_of(", \n", begin) - begin);
}

Measured<int> loaded_nccl() {
  int version = 0;
  if (const ncclResult_t result = ncclGetVersion(&version); result != ncclSuccess) {
    return Measured<int>::missing(ncclGetErrorString(result));
  }
  return version;
}

LibraryVersion cuda_version() {
  int version = 0;
  const cudaError_t result = cudaRuntimeGetVersion(&version);
  return {cuda_text(CUDART_VERSION),
          result == cudaSuccess ? Measured<std::string>(cuda_text(version))
                                : Measured<std::string>::missing(cudaGetErrorString(result)),
          file_of("cudaRuntimeGetVersion")};
}

LibraryVersion nccl_version() {
  const Measured<int> version = loaded_nccl();
  return {nccl_text(NCCL_VERSION_CODE),
          version.has_value() ? Measured<std::string>(nccl_text(*version))
                              : Measured<std::string>::missing(version.reason),
          file_of("ncclGetVersion")};
}

}  // namespace

std::map<std::string, LibraryVersion> library_versions() {
  return {{"LibTorch", {TORCH_VERSION, loaded_torch(), file_of("aoti_torch_device_type_cpu")}},
          {"CUDA", cuda_version()},
          {"cuDNN",
           {cudnn_text(CUDNN_VERSION), cudnn_text(cudnnGetVersion()), file_of("cudnnGetVersion")}},
          {"NCCL", nccl_version()}};
}

void require_built_nccl() {
  const LibraryVersion nccl = nccl_version();
  if (nccl.loaded.has_value() && *nccl.loaded == nccl.built) return;
  throw Error(ExitCode::kHost,
              "NCCL " + (nccl.loaded.has_value() ? *nccl.loaded : nccl.loaded.reason) +
                  " was loaded from " + nccl.path + ", but this program was built for NCCL " +
                  nccl.built + "; remove the other library from LD_LIBRARY_PATH or LD_PRELOAD");
}

}  // namespace falcon::comm
