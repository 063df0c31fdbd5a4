// What a model is to the trainer: single-device code with named parameters and buffers. How it is
// spread over devices (src/parallel) and how it is stepped (src/train) is applied from outside.
// Engine code: needs Torch.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

namespace falcon {

/// A tensor under its reference state_dict name, e.g. layer1.0.conv1.weight.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// The tensors of one batch on the training device, in the order and with the names of the data
/// set's layout, after device-side preparation (images float NCHW-shaped, possibly channels_last;
/// labels int64 [B]; all others as the data set gives them).
struct Batch {
  std::vector<NamedTensor> tensors;
  const at::Tensor& operator[](
      std::string_view name) const;  // throws std::out_of_range with the name
};

/// Pictures go into a model as (byte / 255 - mean) / stddev, by channel. The defaults are
/// ImageNet's, as torchvision uses them.
struct ImageNormalization {
  std::array<float, 3> mean = {0.485F, 0.456F, 0.406F};
  std::array<float, 3> stddev = {0.229F, 0.224F, 0.225F};
};

/// Called with the name and the output of each tapped submodule (names as in the reference files'
/// `taps`).
using TapFunction = std::function<void(std::string_view, const at::Tensor&)>;

/// Called in forward() when a block is entered, with the tensor that all of the block is computed
/// from; what it returns is used in its place.
using BlockEntry = std::function<at::Tensor(std::size_t block, const at::Tensor& input)>;

class Model {
 public:
  virtual ~Model() = default;

  /// Outputs for a batch (classification: {logits [B, classes]}; question answering: {start_logits,
  /// end_logits} [B, S]; detection: models/yolo.h). Uses batch statistics and updates
  /// running ones in training mode. Not thread-safe.
  virtual std::vector<at::Tensor> forward(const Batch& batch) = 0;
  /// The training loss of these outputs, a scalar: the mean over the samples of the batch, or what
  /// the model's reference makes of it (models/yolo.h: the sum over the global batch).
  virtual at::Tensor loss(const std::vector<at::Tensor>& outputs, const Batch& batch) = 0;

  /// Every state_dict entry in reference order; the tensors are the model's own (writing to them
  /// changes the model). Parameters are the trainable ones: leaves that require grad.
  virtual std::vector<NamedTensor> parameters() const = 0;
  /// Running statistics, and BatchNorm's step counts (int64). These counts stay on the CPU and are
  /// moved by forward(): a replayed graph does not count, its owner adds the replays.
  virtual std::vector<NamedTensor> buffers() const = 0;
  virtual std::vector<NamedTensor> state() const = 0;  // both, in state_dict order

  virtual void set_training(bool training) = 0;
  /// Moves and converts all floating tensors; they keep their identity (same TensorImpl, new data),
  /// gradients are dropped. With channels_last 4-D tensors get that layout's strides also where a
  /// size is 1.
  virtual void to(at::Device device, at::ScalarType floating_type, bool channels_last) = 0;
  /// The reference's initialisation for training from scratch; the same values for the same seed on
  /// any machine.
  virtual void initialize(std::uint64_t seed) = 0;
  virtual void set_tap(TapFunction tap) = 0;
  /// forward() goes through blocks one after another: block 0 first, then these, each with the
  /// parameters whose names begin with its prefix; block 0 has all others. A block's parameters
  /// are used in it alone.
  virtual std::vector<std::string> blocks() const { return {}; }
  /// entry is called for each block but 0; empty: none.
  virtual void set_block_entry(BlockEntry /*entry*/) {}
  /// Whether a parameter goes into matrix products and convolutions only, as a weight or a bias:
  /// under autocast a copy in the 16-bit type then computes the same.
  virtual bool is_product_weight(const NamedTensor& parameter) const {
    return parameter.tensor.dim() > 1;
  }
  /// Whether operators may use their fused GPU forms where they have some (the start value: yes).
  virtual void set_fused(bool fused) = 0;
  /// What was decided in forward(), for the report: name -> text.
  virtual std::map<std::string, std::string> choices() const { return {}; }
  virtual ImageNormalization image_normalization() const { return {}; }
};

/// Model options as a spec gives them (spec key model_options); every model says in its catalog row
/// which it takes.
struct ModelOptions {
  std::int64_t classes = 1000;
  double dropout = -1;  // below 0: the reference's own
  // of a transformer; 0: the model's own
  std::int64_t layers = 0;
  std::int64_t hidden_size = 0;
  std::int64_t heads = 0;
  // Above 0; of resnet50 and mobilenet_v2 only, and in no spec: times the channels of the layers.
  double width = 1;
  // What a loss may depend on besides its batch (models/yolo.h).
  std::int64_t image_size = 640;  // side of the training pictures
  std::int64_t ranks = 1;         // times micro-batches: gradients that are averaged
};

/// By catalog name (resnet50, bert_base, yolov5s, ...). REQUIRES: a name of the model catalog.
std::unique_ptr<Model> make_model(std::string_view name, const ModelOptions& options);

}  // namespace falcon
