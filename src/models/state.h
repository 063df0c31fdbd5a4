// What is done to a model's tensors from outside: moving them, and filling them by name.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/model.h>

namespace falcon::models {

/// Gives `tensor` new storage on this device, of this type when it is floating-point, and drops its
/// gradient; its TensorImpl stays. A 4-D tensor becomes contiguous in the wanted layout with the
/// strides of its formula also where a size is 1: convolution gradients come with those, and
/// c10d::Reducer warns (and copies) when a [O, I, 1, 1] filter says [I, 1, 1, 1] instead of [I, 1,
/// I, I] (https://github.com/pytorch/pytorch/issues/47163).
void move_tensor(const at::Tensor& tensor, at::Device device, at::ScalarType floating_type,
                 bool channels_last);

/// Copies values into the state by name, converting type, device and layout. Throws InputError with
/// every name that is missing, given but not the model's, or of another shape; the model is then
/// unchanged.
void copy_state(Model& model, const std::vector<NamedTensor>& values, const std::string& source);

}  // namespace falcon::models
