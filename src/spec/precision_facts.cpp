#include <vector>

#include "falconbench/catalog.h"

namespace falcon::catalog {

std::span<const PrecisionFacts> precisions() {
  static const std::vector<PrecisionFacts> table = {
      {.name = "fp32", .title = "32-bit floating point throughout, TF32 off", .on_cpu = true},
      {.name = "tf32",
       .title = "32-bit storage, matrix products and convolutions in TF32 (compute capability 8.0)",
       .tf32 = true,
       .min_capability_major = 8},
      {.name = "fp16",
       .title = "mixed: products in 16-bit floating point, weights in 32, dynamic loss scaling",
       .autocast = true,
       .loss_scaling = true},
      {.name = "bf16",
       .title = "mixed: products in bfloat16, weights in 32 bits (GPU: compute capability 8.0)",
       .on_cpu = true,
       .autocast = true,
       .min_capability_major = 8},
  };
  return table;
}

}  // namespace falcon::catalog
