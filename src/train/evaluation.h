// The validation samples through the model, after or between training steps: every sample counts
// once, whatever the number of ranks. What is measured depends on the task: a Metric for each, a
// row of train/catalog.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/dataset.h>
#include <falconbench/model.h>
#include <falconbench/records.h>

#include "comm/process_group.h"
#include "train/catalog.h"
#include "train/run_control.h"

namespace falcon::train {

/// One for each rank; those of the others are absorbed by rank 0's.
class Metric {
 public:
  virtual ~Metric() = default;
  /// Takes in a batch: what forward() gave for it in evaluation mode, and the index of each of its
  /// samples in the data set, -1 for one that must not count.
  virtual void add(const std::vector<at::Tensor>& outputs, const Batch& batch,
                   std::span<const std::int64_t> samples) = 0;
  /// Everything that was added, as bytes for absorb().
  virtual std::string state() const = 0;
  virtual void absorb(std::string_view state) = 0;
  /// Measure -> value, over everything added and absorbed.
  virtual std::map<std::string, double> values() const = 0;
};

struct EvaluationOptions {
  at::Device device = at::kCPU;
  at::ScalarType model_type = at::kFloat;
  bool channels_last = false;
  void* copy_stream = nullptr;  // cudaStream_t; GPU only
  const Precision* precision = nullptr;
  std::int64_t batch = 1;  // samples of this rank at once
  int threads = 1;         // of the loader
  int prefetch = 4;
  std::uint64_t seed = 0;  // of the samples' keys
};

/// Collective. All ranks evaluate with rank 0's state (its running statistics, or an average), as a
/// model that is saved would have it, and have their own again afterwards, in training mode. The
/// record is complete on rank 0. REQUIRES on a GPU: the training stream is current, and no step is
/// under way.
EvaluationRecord evaluate(Model& model, comm::ProcessGroup* group, const Dataset& dataset,
                          Metric& metric, const EvaluationOptions& options, RunControl& control);

}  // namespace falcon::train
