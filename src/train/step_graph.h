// What a step enqueues on the training stream as a CUDA graph: captured once, then replayed with
// one call, so that no step waits for the host to launch its kernels.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <ATen/cuda/CUDAGraph.h>

#include "train/kernel_times.h"
#include "train/time_marks.h"

namespace falcon::train {

class StepGraph {
 public:
  /// Captures what `work` enqueues on the current stream; none of it is executed. Marks that work
  /// records for `step` are recorded by every replay. The default generator is read anew by each
  /// replay. Throws what work throws, and c10::Error for what cannot be captured: the stream can be
  /// used then as before, but what work did on the host stays done and the default generator has
  /// lost its seed. marks must outlive the graph.
  /// REQUIRES: nothing else uses the stream, and the work was done a few times before.
  StepGraph(TimeMarks& marks, std::int64_t step, const std::function<void()>& work);
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  /// Enqueues the work, as that of `step`, on the current stream.
  void replay(std::int64_t step);
  std::int64_t nodes() const { return nodes_; }
  /// From the next replay on, an event stands before and after each of NCCL's kernels, or no
  /// longer: where there are many, the events cost a few percent. The device may still replay.
  /// Takes as long as preparing the graph did.
  void set_exchange_timed(bool timed);
  /// Time in which NCCL's kernels were under way in a replay that is over, and was timed.
  double exchange_ms(std::int64_t step) { return exchange_->busy_ms(step); }

 private:
  struct MarkNode {
    cudaGraphNode_t node = nullptr;
    int place = 0;
  };
  void find_marks(std::int64_t step);

  TimeMarks& marks_;
  at::cuda::CUDAGraph graph_{/*keep_graph=*/true};
  std::vector<MarkNode> mark_nodes_;
  std::int64_t nodes_ = 0;
  std::optional<KernelTimes> exchange_;  // since it was first timed
  bool is_timed_ = false;
};

}  // namespace falcon::train
