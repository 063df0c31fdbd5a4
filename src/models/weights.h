// The state of a model from and to weight files. Engine side of src/weights.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <falconbench/model.h>
#include <falconbench/records.h>

#include "weights/safetensors.h"

namespace falcon::models {

/// tensors()[i] as a new tensor on the CPU.
at::Tensor read_tensor(const weights::SafetensorsFile& file, std::size_t i);

/// Copies what the file has of the model's state into it, converting type, device and layout; the
/// rest keeps its values. Throws what weights::match() throws; the model is then unchanged.
WeightsRecord load_weights(Model& model, const weights::SafetensorsFile& file);

/// Copies the file's tensors of exactly these names into them, converting type, device and layout.
/// Throws InputError with every one that is missing or has another shape; nothing is changed then.
void load_exactly(const weights::SafetensorsFile& file, const std::vector<NamedTensor>& tensors);

/// Writes a file with these tensors, atomically; the size of the file in bytes. 64-bit whole
/// numbers stay what they are, float16 and bfloat16 too, everything else floating becomes float32.
/// Copies one tensor after another to the host, and calls on_tensor after each. Throws
/// Error(kUnwritable).
std::int64_t save_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                          const std::map<std::string, std::string>& metadata,
                          const std::function<void()>& on_tensor = {});

}  // namespace falcon::models
