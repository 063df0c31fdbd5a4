// One word for the values of all parameters: equal on two ranks when, practically, all bytes are.
#pragma once
#include <string>
#include <vector>

#include <falconbench/model.h>

namespace falcon::train {

/// 64 bits in hexadecimal, over names, types, shapes and values (in logical order, so the memory
/// layout does not count). Copies the tensors to the host and waits for them. Not cryptographic.
std::string parameter_hash(const std::vector<NamedTensor>& parameters);

}  // namespace falcon::train
