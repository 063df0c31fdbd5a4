#include "train/time_marks.h"

#include <vector>

#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>

#include <falconbench/clock.h>

namespace falcon::train {
namespace {

constexpr int kMarksOfMicroBatch = 2;

std::size_t index_of(std::int64_t step, int place, int places) {
  return static_cast<std::size_t>(step % TimeMarks::kSlots * places + place);
}

class HostMarks : public TimeMarks {
 public:
  explicit HostMarks(int places)
      : places_(places), times_s_(index_of(TimeMarks::kSlots - 1, places, places)) {}
  void record(std::int64_t step, int place) override { time(step, place) = steady_now_s(); }
  bool has_passed(std::int64_t, int) override { return true; }
  void wait(std::int64_t, int) override {}
  double between_ms(std::int64_t from_step, int from, std::int64_t to_step, int to) override {
    return 1e3 * (time(to_step, to) - time(from_step, from));
  }
  int places() const override { return places_; }
  void* event(std::int64_t, int) override { return nullptr; }

 private:
  double& time(std::int64_t step, int place) { return times_s_[index_of(step, place, places_)]; }
  int places_;
  std::vector<double> times_s_;
};

class DeviceMarks : public TimeMarks {
 public:
  DeviceMarks(cudaStream_t training, cudaStream_t copy, int places)
      : training_(training),
        copy_(copy),
        places_(places),
        events_(index_of(TimeMarks::kSlots - 1, places, places)) {
    for (cudaEvent_t& event : events_) {
      // waiting threads sleep: a spinning one would take a core from the decoders
      C10_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
    }
  }
  ~DeviceMarks() override {
    for (cudaEvent_t event : events_) C10_CUDA_CHECK_WARN(cudaEventDestroy(event));
  }
  DeviceMarks(const DeviceMarks&) = delete;
  DeviceMarks& operator=(const DeviceMarks&) = delete;

  void record(std::int64_t step, int place) override {
    const cudaStream_t stream = place == place_of(Mark::kCopyBegin, 0) ? copy_ : training_;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &capture));
    const unsigned flags =
        capture == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
    C10_CUDA_CHECK(cudaEventRecordWithFlags(at(step, place), stream, flags));
  }
  bool has_passed(std::int64_t step, int place) override {
    const cudaError_t state = cudaEventQuery(at(step, place));
    if (state == cudaErrorNotReady) {
      cudaGetLastError();  // no error, but kept as the last one
      return false;
    }
    C10_CUDA_CHECK(state);
    return true;
  }
  void wait(std::int64_t step, int place) override {
    C10_CUDA_CHECK(cudaEventSynchronize(at(step, place)));
  }
  double between_ms(std::int64_t from_step, int from, std::int64_t to_step, int to) override {
    float ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&ms, at(from_step, from), at(to_step, to)));
    return ms;
  }
  int places() const override { return places_; }
  void* event(std::int64_t step, int place) override { return at(step, place); }

 private:
  cudaEvent_t at(std::int64_t step, int place) const {
    return events_[index_of(step, place, places_)];
  }
  cudaStream_t training_;
  cudaStream_t copy_;
  int places_;
  std::vector<cudaEvent_t> events_;
};

}  // namespace

int place_of(Mark mark, std::int64_t micro_batch) {
  if (micro_batch == 0) return static_cast<int>(mark);
  const int first = kMarkCount + kMarksOfMicroBatch * static_cast<int>(micro_batch - 1);
  return first + (mark == Mark::kForwardEnd ? 0 : 1);
}

int num_places(std::int64_t micro_batches) {
  return kMarkCount + kMarksOfMicroBatch * static_cast<int>(micro_batches - 1);
}

std::unique_ptr<TimeMarks> make_host_marks(std::int64_t micro_batches) {
  return std::make_unique<HostMarks>(num_places(micro_batches));
}

std::unique_ptr<TimeMarks> make_device_marks(void* training_stream, void* copy_stream,
                                             std::int64_t micro_batches) {
  return std::make_unique<DeviceMarks>(static_cast<cudaStream_t>(training_stream),
                                       static_cast<cudaStream_t>(copy_stream),
                                       num_places(micro_batches));
}

}  // namespace falcon::train
