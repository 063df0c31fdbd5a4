#include "train/time_marks.h"

#include <array>

#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>

#include <falconbench/clock.h>

namespace falcon::train {
namespace {

std::size_t place_of(std::int64_t step, Mark mark) {
  return static_cast<std::size_t>(step % TimeMarks::kSlots) * kMarkCount +
         static_cast<std::size_t>(mark);
}

constexpr std::size_t kPlaces = std::size_t{TimeMarks::kSlots} * kMarkCount;

class HostMarks : public TimeMarks {
 public:
  void record(std::int64_t step, Mark mark) override {
    times_s_[place_of(step, mark)] = steady_now_s();
  }
  bool has_passed(std::int64_t, Mark) override { return true; }
  void wait(std::int64_t, Mark) override {}
  double between_ms(std::int64_t from_step, Mark from, std::int64_t to_step, Mark to) override {
    return 1e3 * (times_s_[place_of(to_step, to)] - times_s_[place_of(from_step, from)]);
  }
  void* event(std::int64_t, Mark) override { return nullptr; }

 private:
  std::array<double, kPlaces> times_s_{};
};

class DeviceMarks : public TimeMarks {
 public:
  DeviceMarks(cudaStream_t training, cudaStream_t copy) : training_(training), copy_(copy) {
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

  void record(std::int64_t step, Mark mark) override {
    const cudaStream_t stream = mark == Mark::kCopyBegin ? copy_ : training_;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &capture));
    const unsigned flags =
        capture == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
    C10_CUDA_CHECK(cudaEventRecordWithFlags(events_[place_of(step, mark)], stream, flags));
  }
  bool has_passed(std::int64_t step, Mark mark) override {
    const cudaError_t state = cudaEventQuery(events_[place_of(step, mark)]);
    if (state == cudaErrorNotReady) {
      cudaGetLastError();  // no error, but kept as the last one
      return false;
    }
    C10_CUDA_CHECK(state);
    return true;
  }
  void wait(std::int64_t step, Mark mark) override {
    C10_CUDA_CHECK(cudaEventSynchronize(events_[place_of(step, mark)]));
  }
  double between_ms(std::int64_t from_step, Mark from, std::int64_t to_step, Mark to) override {
    float ms = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&ms, events_[place_of(from_step, from)],
                                        events_[place_of(to_step, to)]));
    return ms;
  }
  void* event(std::int64_t step, Mark mark) override { return events_[place_of(step, mark)]; }

 private:
  cudaStream_t training_;
  cudaStream_t copy_;
  std::array<cudaEvent_t, kPlaces> events_{};
};

}  // namespace

std::unique_ptr<TimeMarks> make_host_marks() {
  return std::make_unique<HostMarks>();
}

std::unique_ptr<TimeMarks> make_device_marks(void* training_stream, void* copy_stream) {
  return std::make_unique<DeviceMarks>(static_cast<cudaStream_t>(training_stream),
                                       static_cast<cudaStream_t>(copy_stream));
}

}  // namespace falcon::train
