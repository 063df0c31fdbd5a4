// One process as the measure of several ranks, in float64: what they must come to.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <falconbench/model.h>
#include <falconbench/plan.h>

#include "data/loader.h"
#include "train/host_memory.h"
#include "train/trainer.h"

namespace falcon::test {

inline constexpr std::int64_t kSliceBatch = 4;
inline constexpr int kComparedSteps = 5;

struct Outcome {
  std::vector<at::Tensor> parameters, gradients;
  std::vector<at::Tensor> buffers;
};

/// Without gradients that are not there.
Outcome outcome_of(Model& model);

/// Ranks, and micro-batches of each.
struct Split {
  int ranks = 1;
  int micro_batches = 1;
  int slices() const { return ranks * micro_batches; }
};

/// Small, without dropout; slices: gradients that are averaged.
std::unique_ptr<Model> compared_model(const std::string& name, int slices);
/// kComparedSteps steps of SGD with momentum, kSliceBatch samples a micro-batch.
Plan compared_plan(const std::string& name, const Split& split);
train::TrainerOptions float64();
/// kSliceBatch samples as compared_model() takes them in float32.
Batch compared_batch(const std::string& name);

/// The same steps without the trainer: the micro-batches of all ranks one by one, gradients
/// averaged, the first rank's buffers kept, and SGD as its formula says. The state after them.
Outcome of_micro_batches(const std::string& name, const Split& split);

/// Within 1e-9 of the largest value.
void expect_near(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& want,
                 const char* what);

}  // namespace falcon::test
