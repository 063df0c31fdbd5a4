// From the loader's slots to tensors on the training device. On a GPU: one copy a batch on a stream
// of its own into one of two buffers, beside the computation; from there the training stream
// prepares the pictures and copies all else to where a step reads it, which is the same place for
// ever. On the CPU the slots are used where they are.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/dataset.h>
#include <falconbench/model.h>

#include "data/loader.h"
#include "train/phase_clock.h"

namespace falcon::train {

/// How long a copy may be under way while the next ones are asked for: the slots that the feed
/// holds at most. A loader should have `prefetch` more.
inline constexpr int kSlotsHeld = 2;

struct FeedOptions {
  at::Device device = at::kCPU;
  at::ScalarType picture_type = at::kFloat;  // of the prepared pictures
  bool channels_last = false;
  ImageNormalization normalization;
  std::int64_t batch = 1;       // samples of this rank
  void* copy_stream = nullptr;  // cudaStream_t; GPU only
};

/// Tensors named images (uint8, [H, W, 3] a sample) become normalised pictures [B, 3, H, W],
/// mirrored by the tensor named flip where there is one; those of data/tiles.h become such
/// pictures, drawn. In the batch these are called images; all other tensors are passed on.
class BatchFeed {
 public:
  /// loader and clock must outlive it. REQUIRES on a GPU: the training stream is current, here and
  /// in next().
  BatchFeed(data::Loader& loader, const std::vector<TensorLayout>& layout,
            const FeedOptions& options, PhaseClock& clock);
  ~BatchFeed();
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;

  /// The next batch; valid until the next call. On a GPU always the same tensors. Waits for the
  /// loader, never for the computation of the step before.
  const Batch& next();
  /// Which samples of the data set that batch holds; valid as long.
  std::span<const std::int64_t> samples() const { return held_.back()->samples; }
  double waited_s() const { return waited_s_; }
  /// LoaderRecord::pictures_made_on.
  std::string pictures_made_on() const;

 private:
  struct Buffer;  // device memory of one batch
  const data::LoadedBatch& take();
  std::vector<at::Tensor> views(std::byte* memory, const data::LoadedBatch& loaded,
                                at::Device device) const;
  void release_oldest();
  void copy(const data::LoadedBatch& loaded);
  void prepare(const std::vector<at::Tensor>& raw);
  const at::Tensor& placed(std::size_t index, const at::Tensor& raw);

  data::Loader& loader_;
  std::vector<TensorLayout> layout_;
  FeedOptions options_;
  PhaseClock& clock_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::deque<const data::LoadedBatch*> held_;  // slots in use, oldest first
  std::int64_t count_ = 0;                     // batches taken
  double waited_s_ = 0;
  at::Tensor pictures_;
  std::vector<at::Tensor> places_;  // GPU: what is no picture, by its index in the layout
  Batch batch_;
};

}  // namespace falcon::train
