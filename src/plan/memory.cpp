#include "plan/memory.h"

namespace falcon::plan {
namespace {

// An optimizer keeps one fp32 tensor a parameter for each running average that it has a coefficient
// for.
std::int64_t moments(const std::string& optimizer) {
  std::int64_t count = 0;
  for (const std::string& option : catalog::find_word(catalog::optimizers(), optimizer)->options) {
    if (option == "momentum" || option == "beta1" || option == "beta2") ++count;
  }
  return count;
}

}  // namespace

MemoryEstimate estimate_memory(const RunSpec& spec, const ModelFacts& facts, std::int64_t batch) {
  const PrecisionFacts& precision = *catalog::find_precision(*spec.precision);
  const ModelFacts model = catalog::sized(facts, spec);
  const double side = spec.image_size ? static_cast<double>(*spec.image_size) /
                                            static_cast<double>(model.image_size)
                                      : 1;
  const double half = precision.autocast ? 0.5 : 1.0;
  MemoryEstimate memory;
  // fp32 weights; autocast keeps a 16-bit copy of them for one step
  memory.weights_bytes = model.parameters * (precision.autocast ? 6 : 4);
  memory.gradients_bytes = model.parameters * 4;
  memory.optimizer_bytes = model.parameters * 4 * moments(*spec.optimizer.kind);
  memory.activations_bytes = static_cast<std::int64_t>(model.activation_bytes_per_sample * half *
                                                       side * side * static_cast<double>(batch));
  memory.total_bytes = memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes +
                       memory.activations_bytes;
  memory.basis =
      "parameters x (4 bytes weights, 2 more for a 16-bit copy, 4 gradients, 4 a moment) + "
      "activations of the model x batch (pictures: at its default size x (size ratio)^2), halved "
      "in "
      "16 bit; without library workspaces and "
      "CUDA context";
  return memory;
}

}  // namespace falcon::plan
