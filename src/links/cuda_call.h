// Outcome of a call of the CUDA runtime as an exception.
#pragma once
#include <string>

#include <cuda_runtime_api.h>

#include <falconbench/errors.h>

namespace falcon::links {

/// Throws Error(kWorker) naming the call.
inline void require(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // else the next check would find it again
  throw Error(ExitCode::kWorker, std::string(call) + ": " + cudaGetErrorString(result));
}

}  // namespace falcon::links
