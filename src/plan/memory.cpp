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

/// How many ranks share one copy of each.
struct Shares {
  std::int64_t parameters = 1, gradients = 1, optimizer = 1;
  bool has_masters = false;  // beside 16-bit weights, shared as the optimizer's state
};

Shares shares_of(const RunSpec& spec, std::int64_t devices, bool narrow) {
  if (!catalog::find_parallelism(spec.parallelism.kind)->divides_state) return {};
  const std::int64_t stage = spec.parallelism.sharded.stage;
  return {stage == 3 ? devices : 1, stage >= 2 ? devices : 1, devices, narrow};
}

}  // namespace

MemoryEstimate estimate_memory(const RunSpec& spec, const ModelFacts& facts, std::int64_t batch,
                               std::int64_t devices) {
  const PrecisionFacts& precision = *catalog::find_precision(*spec.precision);
  const ModelFacts model = catalog::sized(facts, spec);
  const double side = spec.image_size ? static_cast<double>(*spec.image_size) /
                                            static_cast<double>(model.image_size)
                                      : 1;
  const double half = precision.autocast ? 0.5 : 1.0;
  const Shares shares = shares_of(spec, devices, precision.autocast);
  const std::int64_t width = shares.has_masters ? 2 : precision.autocast ? 6 : 4;
  const std::int64_t states = moments(*spec.optimizer.kind) + (shares.has_masters ? 1 : 0);
  MemoryEstimate memory;
  // fp32 weights; autocast keeps a 16-bit copy of them for one step
  memory.weights_bytes = model.parameters * width / shares.parameters;
  memory.gradients_bytes = model.parameters * 4 / shares.gradients;
  memory.optimizer_bytes = model.parameters * 4 * states / shares.optimizer;
  memory.activations_bytes = static_cast<std::int64_t>(model.activation_bytes_per_sample * half *
                                                       side * side * static_cast<double>(batch));
  memory.total_bytes = memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes +
                       memory.activations_bytes;
  memory.basis =
      "parameters x (4 bytes weights, 2 more for a 16-bit copy, 4 gradients, 4 a moment; sharded: "
      "2 or 4 bytes weights, 4 a master of 16-bit ones, and each divided by the ranks that share "
      "it) "
      "+ "
      "activations of the model x batch (pictures: at its default size x (size ratio)^2), halved "
      "in "
      "16 bit; without library workspaces and "
      "CUDA context";
  return memory;
}

}  // namespace falcon::plan
