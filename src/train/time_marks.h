// Moments of a step: CUDA events on a GPU, clock readings on the CPU. A ring of steps; each has one
// place for every mark, and one for every micro-batch of those that come with each.
#pragma once
#include <cstdint>
#include <memory>

#include <ATen/core/Tensor.h>

namespace falcon::train {

/// In the order in which a step passes them.
enum class Mark {
  kCopyBegin,          // on the copy stream; GPU only
  kInputReady,         // the training stream has its bytes
  kPrepared,           // and the pictures made of them
  kForwardEnd,         // of each micro-batch: loss included
  kGradientsComputed,  // the last local gradient is there; only where ranks exchange gradients
  kBackwardEnd,        // of each micro-batch; of the last: and averaged over the ranks
  kStepEnd,
};
inline constexpr int kMarkCount = 7;

/// Where a mark of a micro-batch (counted from 0) stands among the places of a step.
int place_of(Mark mark, std::int64_t micro_batch);
int num_places(std::int64_t micro_batches);

class TimeMarks {
 public:
  static constexpr int kSlots = 16;

  virtual ~TimeMarks() = default;
  /// The place in step `step % kSlots` is now, in stream order. Any thread, one at a time.
  virtual void record(std::int64_t step, int place) = 0;
  virtual bool has_passed(std::int64_t step, int place) = 0;
  /// The host waits, without spinning, until the place has passed.
  virtual void wait(std::int64_t step, int place) = 0;
  /// From one place to another, below 0 when it came earlier. REQUIRES: both have passed.
  virtual double between_ms(std::int64_t from_step, int from, std::int64_t to_step, int to) = 0;
  virtual int places() const = 0;  // of a step
  /// The cudaEvent_t of a place. While the stream is being captured, record() makes a node that
  /// records this event in every replay; the node can be given the event of another step. nullptr
  /// on the CPU.
  virtual void* event(std::int64_t step, int place) = 0;
};

std::unique_ptr<TimeMarks> make_host_marks(std::int64_t micro_batches);
/// On the streams' device, which must be the current one. Streams are cudaStream_t.
std::unique_ptr<TimeMarks> make_device_marks(void* training_stream, void* copy_stream,
                                             std::int64_t micro_batches);

}  // namespace falcon::train
