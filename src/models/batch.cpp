#include <stdexcept>

#include <falconbench/model.h>

namespace falcon {

const at::Tensor& Batch::operator[](std::string_view name) const {
  for (const NamedTensor& entry : tensors) {
    if (entry.name == name) {
      return entry.tensor;
    }
  }
  throw std::out_of_range("the batch has no tensor named " + std::string(name));
}

}  // namespace falcon
