#include "train/batch_feed.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <falconbench/clock.h>

#include "ops/draw_tiles.h"
#include "ops/image_prepare.h"

namespace falcon::train {
namespace {

constexpr int kBuffers = 2;

at::ScalarType scalar_type(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
      return at::kByte;
    case ElementType::kInt32:
      return at::kInt;
    case ElementType::kInt64:
      return at::kLong;
    case ElementType::kFloat32:
      return at::kFloat;
  }
  return at::kByte;
}

// Height and width of the pictures that a batch holds or is drawn to; 0 when there are none.
std::pair<std::int64_t, std::int64_t> picture_size(const std::vector<TensorLayout>& layout) {
  for (const TensorLayout& tensor : layout) {
    if (tensor.name == "images") return {tensor.sample_shape[0], tensor.sample_shape[1]};
    if (tensor.name == "axes") return {tensor.sample_shape[2], tensor.sample_shape[2]};
  }
  return {0, 0};
}

// Tensors that the pictures are made of, beside the first of them.
bool is_used_up(std::string_view name) {
  return name == "flip" || name == "tiles" || name == "axes" || name == "gains";
}

cudaEvent_t make_event() {
  cudaEvent_t event = nullptr;
  C10_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
  return event;
}

}  // namespace

/// `copied` is passed when the slot may be given back and the bytes may be read, `used` when they
/// have been read and may be overwritten.
struct BatchFeed::Buffer {
  at::Tensor memory;
  std::vector<at::Tensor> views;
  cudaEvent_t copied = make_event();
  cudaEvent_t used = make_event();

  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    C10_CUDA_CHECK_WARN(cudaEventDestroy(copied));
    C10_CUDA_CHECK_WARN(cudaEventDestroy(used));
  }
};

BatchFeed::BatchFeed(data::Loader& loader, const std::vector<TensorLayout>& layout,
                     const FeedOptions& options, PhaseClock& clock)
    : loader_(loader), layout_(layout), options_(options), clock_(clock), places_(layout.size()) {
  if (const auto [height, width] = picture_size(layout_); height > 0) {
    pictures_ = at::empty(
        {options_.batch, 3, height, width},
        at::TensorOptions().dtype(options_.picture_type).device(options_.device),
        options_.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
  }
  if (!options_.device.is_cuda()) return;
  const auto bytes = at::TensorOptions().dtype(at::kByte).device(options_.device);
  for (int i = 0; i < kBuffers; ++i) {
    buffers_.push_back(std::make_unique<Buffer>());
    buffers_.back()->memory = at::empty({static_cast<std::int64_t>(loader_.slot_bytes())}, bytes);
  }
}

BatchFeed::~BatchFeed() {
  // copies may still read the slots
  if (options_.device.is_cuda()) {
    C10_CUDA_CHECK_WARN(cudaStreamSynchronize(static_cast<cudaStream_t>(options_.copy_stream)));
  }
  for (const data::LoadedBatch* slot : held_) loader_.release(*slot);
}

std::vector<at::Tensor> BatchFeed::views(std::byte* memory, const data::LoadedBatch& loaded,
                                         at::Device device) const {
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < layout_.size(); ++i) {
    std::vector<std::int64_t> shape{options_.batch};
    shape.insert(shape.end(), layout_[i].sample_shape.begin(), layout_[i].sample_shape.end());
    std::byte* place = memory + (loaded.tensors[i] - loaded.memory.data());
    tensors.push_back(at::from_blob(
        place, shape, at::TensorOptions().dtype(scalar_type(layout_[i].type)).device(device)));
  }
  return tensors;
}

std::string BatchFeed::pictures_made_on() const {
  if (!pictures_.defined()) return "none";
  const auto is_undrawn = [](const TensorLayout& tensor) { return tensor.name == "pixels"; };
  return options_.device.is_cuda() && std::ranges::any_of(layout_, is_undrawn) ? "gpu" : "cpu";
}

void BatchFeed::release_oldest() {
  if (options_.device.is_cuda()) {
    const std::int64_t oldest = count_ - static_cast<std::int64_t>(held_.size());
    C10_CUDA_CHECK(
        cudaEventSynchronize(buffers_[static_cast<std::size_t>(oldest % kBuffers)]->copied));
  }
  loader_.release(*held_.front());
  held_.pop_front();
}

const data::LoadedBatch& BatchFeed::take() {
  const std::size_t keep = options_.device.is_cuda() ? kSlotsHeld - 1 : 0;
  while (held_.size() > keep) release_oldest();
  const double before_s = steady_now_s();
  const data::LoadedBatch& loaded = loader_.next();
  const double waited_s = steady_now_s() - before_s;
  waited_s_ += waited_s;
  clock_.data_waited(waited_s);
  held_.push_back(&loaded);
  return loaded;
}

/// Enqueues the copy and makes the training stream wait for it.
void BatchFeed::copy(const data::LoadedBatch& loaded) {
  const auto copy_stream = static_cast<cudaStream_t>(options_.copy_stream);
  const cudaStream_t training = c10::cuda::getCurrentCUDAStream(options_.device.index());
  Buffer& buffer = *buffers_[static_cast<std::size_t>(count_ % kBuffers)];
  C10_CUDA_CHECK(cudaStreamWaitEvent(copy_stream, buffer.used));
  clock_.mark(Mark::kCopyBegin);
  C10_CUDA_CHECK(cudaMemcpyAsync(buffer.memory.mutable_data_ptr(), loaded.memory.data(),
                                 loaded.memory.size(), cudaMemcpyHostToDevice, copy_stream));
  C10_CUDA_CHECK(cudaEventRecord(buffer.copied, copy_stream));
  C10_CUDA_CHECK(cudaStreamWaitEvent(training, buffer.copied));
}

/// The tensor where a step finds what `raw` holds.
const at::Tensor& BatchFeed::placed(std::size_t index, const at::Tensor& raw) {
  if (!options_.device.is_cuda()) return raw;
  if (!places_[index].defined()) places_[index] = at::empty_like(raw);
  return places_[index].copy_(raw, /*non_blocking=*/true);
}

void BatchFeed::prepare(const std::vector<at::Tensor>& raw) {
  const auto find = [&](std::string_view name) {
    for (std::size_t i = 0; i < layout_.size(); ++i) {
      if (layout_[i].name == name) return raw[i];
    }
    return at::Tensor();
  };
  batch_.tensors.clear();
  for (std::size_t i = 0; i < layout_.size(); ++i) {
    if (layout_[i].name == "images") {
      ops::prepare_images(raw[i], find("flip"), options_.normalization, pictures_);
      batch_.tensors.push_back({"images", pictures_});
    } else if (layout_[i].name == "pixels") {
      ops::draw_tiles({raw[i], find("tiles"), find("axes"), find("gains")}, options_.normalization,
                      pictures_);
      batch_.tensors.push_back({"images", pictures_});
    } else if (!is_used_up(layout_[i].name)) {
      batch_.tensors.push_back({layout_[i].name, placed(i, raw[i])});
    }
  }
}

const Batch& BatchFeed::next() {
  const data::LoadedBatch& loaded = take();
  if (!options_.device.is_cuda()) {
    clock_.mark(Mark::kInputReady);
    prepare(views(loaded.memory.data(), loaded, options_.device));
    count_ += 1;
    return batch_;
  }
  Buffer& buffer = *buffers_[static_cast<std::size_t>(count_ % kBuffers)];
  if (buffer.views.empty()) {
    auto* memory = static_cast<std::byte*>(buffer.memory.mutable_data_ptr());
    buffer.views = views(memory, loaded, options_.device);
  }
  copy(loaded);
  clock_.mark(Mark::kInputReady);
  prepare(buffer.views);
  C10_CUDA_CHECK(
      cudaEventRecord(buffer.used, c10::cuda::getCurrentCUDAStream(options_.device.index())));
  count_ += 1;
  return batch_;
}

}  // namespace falcon::train
