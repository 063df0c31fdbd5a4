#include "links/collectives.h"

#include <algorithm>
#include <memory>

#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <falconbench/clock.h>

#include "links/collective_buffer.h"
#include "links/cuda_call.h"
#include "links/windows.h"

namespace falcon::links {
namespace {

// An all_reduce in place multiplies its contents each time: so many calls stay within the range of
// the element type for up to 32 ranks.
constexpr std::int64_t kMostCalls = 20;

at::ScalarType type_of(const comm::ProcessGroup& group) {
  return group.device().is_cuda() ? at::kBFloat16 : at::kFloat;
}

/// Time on this rank: between events on the current stream, which every collective is waited for
/// by; with Gloo, whose calls return when they are done, on the host's clock.
class Stopwatch {
 public:
  explicit Stopwatch(bool on_gpu) : on_gpu_(on_gpu) {
    if (!on_gpu_) return;
    require(cudaEventCreate(&begin_), "cudaEventCreate");
    require(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~Stopwatch() {
    if (!on_gpu_) return;
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start() {
    begin_s_ = steady_now_s();
    if (on_gpu_) record(begin_);
  }
  /// Waits for the device.
  double stop() {
    if (!on_gpu_) return steady_now_s() - begin_s_;
    record(end_);
    require(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  static void record(cudaEvent_t event) {
    require(cudaEventRecord(event, c10::cuda::getCurrentCUDAStream().stream()), "cudaEventRecord");
  }
  bool on_gpu_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  double begin_s_ = 0;
};

class Bench {
 public:
  Bench(comm::ProcessGroup& group, const LinkWork& work)
      : group_(group), work_(work), watch_(group.device().is_cuda()) {}

  LinkWindows measure(const std::string& operation, std::int64_t bytes) {
    const auto buffer = make_collective_buffer(operation, group_, bytes, type_of(group_));
    LinkWindows windows;
    windows.size_bytes = buffer->bytes();
    windows.contents_match = true;
    windows.flow_seconds.resize(1);
    buffer->fill(0);
    time_calls(*buffer, 1);  // connections of this operation are made at its first use
    buffer->fill(0);
    const double trial_s = slowest(time_calls(*buffer, kTrialRepeats));
    windows.repeats =
        repeats_for(trial_s / static_cast<double>(kTrialRepeats), work_.window_s, kMostCalls);
    for (std::int64_t window = 1; window <= work_.windows; ++window) {
      buffer->fill(window);
      windows.seconds.push_back(time_calls(*buffer, windows.repeats));
      windows.flow_seconds.front().push_back(windows.seconds.back());
      // one call before the window
      windows.contents_match =
          windows.contents_match && buffer->is_right(window, windows.repeats + 1);
    }
    return windows;
  }

 private:
  /// One call goes before, which ends on all ranks at about the same time.
  double time_calls(CollectiveBuffer& buffer, std::int64_t calls) {
    group_.barrier();
    buffer.call();
    watch_.start();
    for (std::int64_t i = 0; i < calls; ++i) buffer.call();
    return watch_.stop();
  }
  /// The same on all ranks, so that all make the same number of calls.
  double slowest(double seconds) {
    const at::Tensor all =
        at::full({1}, seconds, at::TensorOptions(at::kFloat).device(group_.device()));
    group_.all_reduce(all, comm::Reduction::kMaximum);
    return all.item<double>();
  }

  comm::ProcessGroup& group_;
  const LinkWork& work_;
  Stopwatch watch_;
};

}  // namespace

LinkResult measure_collective(comm::ProcessGroup& group, const CollectiveTask& task,
                              const LinkWork& work, const std::function<void()>& on_size) {
  Bench bench(group, work);
  LinkResult result;
  for (const std::int64_t bytes : task.sizes_bytes) {
    result.by_size.push_back(bench.measure(task.operation, bytes));
    on_size();
  }
  return result;
}

std::string collective_data_type(const comm::ProcessGroup& group) {
  return type_of(group) == at::kBFloat16 ? "bfloat16" : "float32";
}

}  // namespace falcon::links
