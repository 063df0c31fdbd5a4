// The training loop of one rank: one step function for warm-up and measurement, and what it
// records.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <falconbench/model.h>
#include <falconbench/plan.h>
#include <falconbench/records.h>
#include <falconbench/strategy.h>

#include "comm/process_group.h"
#include "data/loader.h"
#include "train/batch_feed.h"
#include "train/blocks.h"
#include "train/catalog.h"
#include "train/moving_average.h"
#include "train/optimizer.h"
#include "train/phase_clock.h"
#include "train/run_control.h"
#include "train/step_graph.h"
#include "train/step_reporter.h"
#include "train/step_trace.h"
#include "weights/checkpoint.h"

namespace falcon::train {

struct TrainerOptions {
  at::Device device = at::kCPU;
  at::ScalarType model_type = at::kFloat;
  bool channels_last = false;
  void* training_stream = nullptr;  // cudaStream_t, the current one; GPU only
  void* copy_stream = nullptr;      // cudaStream_t, of this trainer alone; GPU only
  /// StrategyContext's.
  std::vector<at::Device> more_devices = {};
  std::function<std::unique_ptr<Model>(at::Device)> make_replica = {};
};

class Trainer {
 public:
  /// Collective. model: on the device, initialised. group: nullptr in a world of one. All given
  /// objects must outlive the trainer. With plan.files.resume the model, the optimizer and the loss
  /// scale become those of the checkpoint: throws InputError when it is of another model. REQUIRES
  /// on a GPU: the training stream is current, here and in every call.
  Trainer(const Plan& plan, Model& model, comm::ProcessGroup* group, data::Loader& loader,
          const std::vector<TensorLayout>& layout, const TrainerOptions& options,
          RunControl& control);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Warm-up and measured steps, until the budget is used or a stop is agreed on. Collective.
  void run();
  /// One step, enqueued; run() does nothing else. Ends with at most kMaxAhead steps not completed.
  void step();
  /// Waits for all steps.
  void finish();
  /// Whether run() ended because somebody wanted it to.
  bool was_stopped() const { return was_stopped_; }
  /// Steps of the training so far, with those before this run.
  std::int64_t steps_done() const { return plan_.first_step + clock_.harvested(); }

  /// Last completed step, in memory that the step itself writes.
  const std::int64_t* progress() const { return reporter_.progress(); }
  PhaseClock& clock() { return clock_; }
  Strategy& strategy() { return *strategy_; }
  /// Averages of the model's floating state after run(): on rank 0 with optimizer.ema_decay, else
  /// none.
  const std::vector<NamedTensor>& averages() const { return averages_; }
  /// So many more steps and one before them, not measured; what was measured stays as it is. After
  /// run(). Collective. Evaluation may have come between.
  TraceRecord trace(std::int64_t steps);
  /// What was measured; after finish().
  void fill(WorkerRecords& records) const;

 private:
  /// What the plan stands for at the start, read once.
  struct Start {
    RateRows rows;
    std::unique_ptr<const weights::SafetensorsFile> resume;  // nullptr: from the beginning
  };
  Trainer(const Plan& plan, Model& model, comm::ProcessGroup* group, data::Loader& loader,
          const std::vector<TensorLayout>& layout, const TrainerOptions& options,
          RunControl& control, const Start& start);
  bool is_checkpoint_due() const;
  void checkpoint();
  void resume(const weights::SafetensorsFile& file);
  std::vector<SlicedState> sliced_state() const;
  std::vector<NamedTensor> plain_state() const;
  std::vector<NamedTensor> whole(const SlicedState& state) const;
  void start_average();
  void end_training();
  MemoryRecord memory_now() const;
  weights::CheckpointFacts checkpoint_facts() const;
  std::unique_ptr<Strategy> apply_strategy();
  void seed_this_step();
  Batch micro_batch_of(const Batch& batch, std::int64_t index) const;
  at::Tensor loss_gradient(const at::Tensor& loss) const;
  at::Tensor forward_backward(const Batch& batch);
  void compute(const Batch& batch);
  bool is_captured_next() const;
  void capture(const Batch& batch);
  std::string try_capture(const Batch& batch);
  bool all_ranks(bool holds);
  bool is_timed_replay(std::int64_t step) const;
  void replay();
  void harvest_one();
  void harvest_passed();
  RunProgress progress_now() const;
  void fill_loss(WorkerRecords& records) const;
  void fill_phases(WorkerRecords& records) const;
  void fill_loader(WorkerRecords& records) const;

  const Plan& plan_;
  TrainerOptions options_;
  Model& model_;
  data::Loader& loader_;
  RunControl& control_;
  const Precision& precision_;
  RunLength length_;
  comm::ProcessGroup* group_;
  int world_;
  int rank_;
  PhaseClock clock_;
  StepReporter reporter_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<Slice> slices_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<LossScaler> scaler_;
  std::optional<MovingAverage> average_;  // of the slices, then of the buffers
  std::vector<NamedTensor> averages_;
  MemoryRecord memory_;
  BatchFeed feed_;
  BlockProtocol blocks_;
  std::unique_ptr<StepGraph> graph_;  // nullptr: steps are enqueued one kernel after the other
  Measured<GraphRecord> graph_record_;
  StepTrace* tracing_ = nullptr;         // steps are not recorded but given to it
  std::vector<at::Tensor> host_counts_;  // of the model: a replay does not move them,
  std::vector<std::int64_t> counted_;    // but a step moves each so far

  std::vector<double> exchange_ms_;  // of NCCL in each timed replay
  std::int64_t planned_steps_ = 0;
  bool was_stopped_ = false;
  std::vector<PauseRecord> pauses_;
  double paused_s_ = 0;                   // all of them
  std::vector<StepTime> times_;           // measured steps
  std::vector<ops::StepReport> reports_;  // all steps
  std::deque<double> recent_ms_;          // of the last steps
  double first_step_end_s_ = 0;
  double measured_begin_s_ = 0;
  double last_end_s_ = 0;
  data::LoaderStats loader_at_begin_;
  data::LoaderStats loader_at_end_;
  double waited_at_begin_s_ = 0;
};

}  // namespace falcon::train
