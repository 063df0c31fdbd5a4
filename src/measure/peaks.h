// Peak arithmetic rates of GPUs as their data sheets state them, for model FLOPs utilisation.
#pragma once
#include <string>
#include <string_view>

#include "falconbench/measured.h"

namespace falcon::measure {

/// How the products of a run are computed: FP32 units, or tensor cores with these inputs.
enum class MathMode { kFp32, kTf32, kFp16, kBf16 };

struct Peak {
  double flops_per_s = 0;  // dense, at the boost clock
  std::string source;      // data sheet
};

/// Peak of the GPU with this NVML product name ("NVIDIA H200"; a leading "NVIDIA " or "Tesla " does
/// not matter). Missing, with the reason, for a GPU or mode that the table lacks.
Measured<Peak> peak(std::string_view product_name, MathMode mode);

}  // namespace falcon::measure
