#include "train/evaluation.h"

#include <algorithm>
#include <optional>

#include <ATen/core/grad_mode.h>

#include "data/loader.h"
#include "train/batch_feed.h"
#include "train/host_memory.h"
#include "train/moving_average.h"
#include "train/phase_clock.h"
#include "train/precision.h"
#include "train/time_marks.h"

namespace falcon::train {
namespace {

constexpr std::size_t kChunkBytes = 4 << 20;  // the store refuses values above 8 MiB

data::BatchSchedule schedule_of(const Dataset& dataset, const comm::ProcessGroup* group,
                                const EvaluationOptions& options) {
  data::BatchScheduleOptions schedule;
  schedule.samples = dataset.size();
  schedule.ranks = group == nullptr ? 1 : group->world();
  schedule.rank = group == nullptr ? 0 : group->rank();
  schedule.global_batch = options.batch * schedule.ranks;
  schedule.seed = options.seed;
  schedule.shuffle = false;
  schedule.whole = true;
  return data::BatchSchedule(schedule);
}

void take_state_of_root(const Model& model, comm::ProcessGroup& group) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& entry : model.state()) {
    // counts stay on the host whatever the device; they are the same everywhere
    if (entry.tensor.device() == group.device()) tensors.push_back(entry.tensor.detach());
  }
  group.broadcast_all(tensors, 0);
}

/// Puts `bytes` of every rank but 0 into the store, in pieces; rank 0 gets them in rank order.
std::vector<std::string> gather(comm::ProcessGroup& group, const std::string& bytes) {
  const auto key = [](int rank, std::size_t piece) {
    return "evaluation/" + std::to_string(rank) + "/" + std::to_string(piece);
  };
  const int rank = group.rank();
  if (rank != 0) {
    const std::size_t pieces = (bytes.size() + kChunkBytes - 1) / kChunkBytes;
    for (std::size_t i = 0; i < pieces; ++i) {
      group.set(key(rank, i + 1), bytes.substr(i * kChunkBytes, kChunkBytes));
    }
    group.set(key(rank, 0), std::to_string(pieces));
    return {};
  }
  std::vector<std::string> all;
  for (int other = 1; other < group.world(); ++other) {
    const std::size_t pieces = std::stoul(group.get(key(other, 0)));
    group.remove(key(other, 0));
    std::string whole;
    for (std::size_t i = 1; i <= pieces; ++i) {
      whole += group.get(key(other, i));
      group.remove(key(other, i));
    }
    all.push_back(std::move(whole));
  }
  return all;
}

class Pass {
 public:
  Pass(Model& model, const Dataset& dataset, const data::BatchSchedule& schedule,
       const EvaluationOptions& options)
      : model_(model),
        schedule_(schedule),
        options_(options),
        allocator_(options.device.is_cuda()),
        loader_(dataset, schedule, allocator_,
                {.threads = options.threads,
                 .slots = options.prefetch + kSlotsHeld,
                 .steps = schedule.steps_per_epoch()}),
        clock_(make_host_marks(1), options.device.is_cuda()),
        feed_(loader_, dataset.layout(),
              {.device = options.device,
               .picture_type = options.precision->autocast.value_or(options.model_type),
               .channels_last = options.channels_last,
               .normalization = model.image_normalization(),
               .batch = options.batch,
               .copy_stream = options.copy_stream},
              clock_) {
    clock_.set_enabled(false);
    clock_.start();
  }

  void run(Metric& metric, EvaluationRecord& record, RunControl& control) {
    for (std::int64_t step = 0; step < schedule_.steps_per_epoch(); ++step) {
      clock_.begin_step();
      const Batch& batch = feed_.next();
      metric.add(forward(batch), batch, counted(step, record));
      clock_.end_step();
      clock_.harvest();
      control.worked();
    }
  }

 private:
  std::vector<at::Tensor> forward(const Batch& batch) {
    const AutocastGuard autocast(options_.device.type(), options_.precision->autocast);
    return model_.forward(batch);
  }

  /// The samples of the batch; -1 for what only fills it up and for what stands in for a damaged
  /// sample.
  std::vector<std::int64_t> counted(std::int64_t step, EvaluationRecord& record) const {
    std::vector<std::int64_t> samples(feed_.samples().begin(), feed_.samples().end());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i);
      const bool is_repeated = schedule_.is_repeated(step, place);
      const bool is_wanted = samples[i] == schedule_.sample(step, place).index;
      if (!is_repeated) (is_wanted ? record.samples : record.skipped) += 1;
      if (is_repeated || !is_wanted) samples[i] = -1;
    }
    return samples;
  }

  Model& model_;
  const data::BatchSchedule& schedule_;
  const EvaluationOptions& options_;
  HostAllocator allocator_;
  data::Loader loader_;
  PhaseClock clock_;
  BatchFeed feed_;
};

/// Rank 0's metric and counts become those of all ranks.
void bring_together(comm::ProcessGroup& group, Metric& metric, EvaluationRecord& record) {
  group.wait_for_root("evaluation", {});
  const std::string counts =
      std::to_string(record.samples) + " " + std::to_string(record.skipped) + "\n";
  for (const std::string& other : gather(group, counts + metric.state())) {
    const std::size_t end = other.find('\n');
    std::size_t space = 0;
    record.samples += std::stoll(other, &space);
    record.skipped += std::stoll(other.substr(space, end - space));
    metric.absorb(std::string_view(other).substr(end + 1));
  }
}

}  // namespace

EvaluationRecord evaluate(Model& model, comm::ProcessGroup* group, const Dataset& dataset,
                          Metric& metric, const EvaluationOptions& options, RunControl& control) {
  const at::NoGradGuard no_grad;
  std::optional<KeptState> kept;
  if (group != nullptr) {
    if (group->rank() != 0) kept.emplace(model);
    take_state_of_root(model, *group);
  }
  const data::BatchSchedule schedule = schedule_of(dataset, group, options);
  EvaluationRecord record;
  model.set_training(false);
  Pass(model, dataset, schedule, options).run(metric, record, control);
  model.set_training(true);
  if (group != nullptr) bring_together(*group, metric, record);
  record.metrics = metric.values();
  return record;
}

}  // namespace falcon::train
