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
};

/// Where a step computes in 16 bit: product weights are held in it, whose float32 masters are
/// shared as the optimizer's state is.
bool has_masters(const RunSpec& spec, const StrategyFacts& strategy) {
  return strategy.divides_state || (!strategy.is_one_rank && spec.accumulate == 1);
}

Shares shares_of(const RunSpec& spec, const StrategyFacts& strategy, std::int64_t devices) {
  if (!strategy.divides_state) return {};
  const std::int64_t stage = spec.parallelism.sharded.stage;
  return {stage == 3 ? devices : 1, stage >= 2 ? devices : 1, devices};
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
  const StrategyFacts& strategy = *catalog::find_parallelism(spec.parallelism.kind);
  const Shares shares = shares_of(spec, strategy, devices);
  const bool masters = precision.autocast && has_masters(spec, strategy);
  const std::int64_t width = masters ? 2 : precision.autocast ? 6 : 4;
  const std::int64_t gradient_width = masters && !strategy.divides_state ? 2 : 4;
  const std::int64_t states = moments(*spec.optimizer.kind) + (masters ? 1 : 0);
  MemoryEstimate memory;
  // without masters autocast keeps a 16-bit copy of fp32 weights for one step
  memory.weights_bytes = model.parameters * width / shares.parameters;
  memory.gradients_bytes = model.parameters * gradient_width / shares.gradients;
  memory.optimizer_bytes = model.parameters * 4 * states / shares.optimizer;
  memory.activations_bytes = static_cast<std::int64_t>(model.activation_bytes_per_sample * half *
                                                       side * side * static_cast<double>(batch));
  memory.total_bytes = memory.weights_bytes + memory.gradients_bytes + memory.optimizer_bytes +
                       memory.activations_bytes;
  memory.basis =
      "parameters x (fp32: 4 bytes weights, 4 gradients; 16 bit: 2 weights, 2 gradients, 4 "
      "masters, "
      "with dp or accumulate 4 and 2 weights, 4 gradients, with sharded 4 gradients; 4 a moment; "
      "with sharded each divided by the ranks that share it) + activations of the model x batch "
      "(pictures: at its default size x (size ratio)^2), halved in 16 bit; without library "
      "workspaces and CUDA context";
  return memory;
}

}  // namespace falcon::plan
