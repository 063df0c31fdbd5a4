// What tests of the training loop share: a small model, a plan for it, and one rank with everything
// that it owns.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <falconbench/model.h>
#include <falconbench/plan.h>
#include <falconbench/records.h>

#include "comm/process_group.h"
#include "data/loader.h"
#include "train/host_memory.h"
#include "train/run_control.h"
#include "train/trainer.h"

namespace falcon::test {

/// Convolution 3 -> 8, ReLU, mean over the picture, linear to the classes. A few thousand numbers.
std::unique_ptr<Model> make_tiny_model(std::int64_t classes);

/// fp32 on the CPU, synthetic pictures of 32 pixels, 10 classes, SGD with momentum, 2 warm-up and 5
/// measured steps.
Plan small_plan(int world, std::int64_t batch_per_rank);

/// Counts and remembers; asks to stop when told.
class FakeControl : public train::RunControl {
 public:
  std::function<bool()> stop = [] { return false; };
  double began_s = 0;
  double ended_s = 0;
  std::vector<std::string> phases;
  bool stop_requested() const override { return stop(); }
  void measuring_began(double time_s) override { began_s = time_s; }
  void measuring_ended(double time_s) override { ended_s = time_s; }
  void entered(const char* phase) override { phases.emplace_back(phase); }
  void worked() override {}
};

/// One rank; members are destroyed in the order that they need.
class Rank {
 public:
  /// group: nullptr in a world of one. Of the given type on the CPU, or float32 on options.device.
  Rank(const Plan& plan, std::unique_ptr<Model> model, comm::ProcessGroup* group,
       const train::TrainerOptions& options = {});

  train::Trainer& trainer() { return *trainer_; }
  Model& model() { return *model_; }
  FakeControl& control() { return control_; }
  WorkerRecords records() const;

 private:
  Plan plan_;
  FakeControl control_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Dataset> dataset_;
  train::HostAllocator allocator_;
  std::unique_ptr<data::Loader> loader_;
  std::unique_ptr<train::Trainer> trainer_;
};

/// A world of one: makes the rank, runs it, gives its records.
WorkerRecords run_alone(const Plan& plan, std::unique_ptr<Model> model,
                        const train::TrainerOptions& options = {});

}  // namespace falcon::test
