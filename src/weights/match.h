// Which tensor of a weight file is which of the model: by name, or by the name under which others
// save the same tensor.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "weights/safetensors.h"

namespace falcon::weights {

struct Match {
  std::vector<std::optional<std::size_t>> sources;  // beside `wanted`: place in file.tensors()
  std::vector<std::string> missing;                 // wanted, but not in the file
  std::vector<std::string> unused;                  // in the file, but not wanted
};

/// wanted: what the model has; type kI64 for counts, any other for floating-point numbers. Accepted
/// beside its own name: with `module.` before it (saved from a wrapper of several devices), without
/// `bert.` (saved without its head), `LayerNorm.gamma` and `LayerNorm.beta` for weight and bias
/// (the first published BERT files). Throws InputError with every tensor of another shape (both are
/// named) or kind of number, and those that the file has under two names; Error(kUsage) when it
/// has none of them at all.
Match match(const SafetensorsFile& file, const std::vector<TensorInfo>& wanted);

}  // namespace falcon::weights
