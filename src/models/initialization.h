// Random values for training from scratch, counter-based: element i of a tensor depends on (seed,
// name, i) only, so a model starts the same on any machine and for any order of its tensors. Each
// function overwrites the whole tensor (any floating type, device and layout); i counts in
// row-major logical order.
#pragma once
#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>

namespace falcon::models {

/// Normal, mean 0 (Box and Muller 1958 in double, rounded to float32).
void fill_normal(const at::Tensor& tensor, double stddev, std::uint64_t seed,
                 std::string_view name);

/// Uniform in [-bound, bound).
void fill_uniform(const at::Tensor& tensor, double bound, std::uint64_t seed,
                  std::string_view name);

/// The start values that convolution networks share. Filters (4-D): normal with standard deviation
/// sqrt(2 / fan_out), fan_out = out * kh * kw, not divided by groups (He et al. 2015). Norms:
/// weight and running_var 1. The rest is 0.
void initialize_convolution_network(const at::Tensor& tensor, std::uint64_t seed,
                                    std::string_view name);

}  // namespace falcon::models
