#include "measure/peaks.h"

#include <array>

namespace falcon::measure {
namespace {

struct Row {
  std::string_view product;       // NVML name without "NVIDIA " or "Tesla "
  double fp32, tf32, fp16, bf16;  // TFLOP/s, dense; 0: the part has no such mode
  std::string_view sheet;
};

// Where a sheet prints the figure "with sparsity", half of it stands here.
constexpr std::string_view kV100 = "NVIDIA V100 Tensor Core GPU data sheet, January 2020";
constexpr std::string_view kA100 = "NVIDIA A100 Tensor Core GPU data sheet, June 2021";
constexpr std::string_view kH100 = "NVIDIA H100 Tensor Core GPU data sheet (SXM5, PCIe), 2022-2023";
constexpr std::string_view kH100Nvl = "NVIDIA H100 Tensor Core GPU data sheet (SXM, NVL), 2024";
constexpr std::string_view kH200 = "NVIDIA H200 Tensor Core GPU data sheet, 2024";
constexpr std::array kRows{
    Row{"V100-SXM2-16GB", 15.7, 0, 125, 0, kV100},
    Row{"V100-SXM2-32GB", 15.7, 0, 125, 0, kV100},
    Row{"V100-PCIE-16GB", 14, 0, 112, 0, kV100},
    Row{"V100-PCIE-32GB", 14, 0, 112, 0, kV100},
    Row{"V100S-PCIE-32GB", 16.4, 0, 130, 0, kV100},
    Row{"A100-SXM4-40GB", 19.5, 156, 312, 312, kA100},
    Row{"A100-SXM4-80GB", 19.5, 156, 312, 312, kA100},
    Row{"A100-PCIE-40GB", 19.5, 156, 312, 312, kA100},
    Row{"A100 80GB PCIe", 19.5, 156, 312, 312, kA100},
    Row{"H100 80GB HBM3", 67, 494.5, 989.5, 989.5, kH100},
    Row{"H100 PCIe", 51, 378, 756.5, 756.5, kH100},
    Row{"H100 NVL", 60, 417.5, 835.5, 835.5, kH100Nvl},
    Row{"H200", 67, 494.5, 989.5, 989.5, kH200},
    Row{"H200 NVL", 60, 417.5, 835.5, 835.5, kH200},
};

std::string_view short_name(std::string_view name) {
  for (const std::string_view prefix : {"NVIDIA ", "Tesla "}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return name;
}

double tflops(const Row& row, MathMode mode) {
  switch (mode) {
    case MathMode::kFp32:
      return row.fp32;
    case MathMode::kTf32:
      return row.tf32;
    case MathMode::kFp16:
      return row.fp16;
    case MathMode::kBf16:
      return row.bf16;
  }
  return 0;
}

}  // namespace

Measured<Peak> peak(std::string_view product_name, MathMode mode) {
  for (const Row& row : kRows) {
    if (row.product != short_name(product_name)) continue;
    const double rate = tflops(row, mode);
    if (rate > 0) return Peak{rate * 1e12, std::string(row.sheet)};
    return Measured<Peak>::missing("the data sheet of " + std::string(product_name) +
                                   " states no peak for this precision");
  }
  return Measured<Peak>::missing("no data sheet peak is known for " + std::string(product_name));
}

}  // namespace falcon::measure
