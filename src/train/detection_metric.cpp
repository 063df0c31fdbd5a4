#include "train/detection_metric.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include "data/parallel_for.h"
#include "measure/detection_score.h"
#include "measure/suppression.h"

namespace falcon::train {
namespace {

constexpr std::int64_t kBoxColumns = 5;  // of predictions before the classes; of targets
constexpr measure::SuppressionOptions kSuppression;

/// A box as the ranks exchange it. Corners in pixels of the network's input.
struct KeptBox {
  std::int32_t picture = 0;
  std::int32_t label = 0;
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
};
struct Found : KeptBox {
  float score = 0;
};
struct Wanted : KeptBox {
  std::int32_t is_crowd = 0;
};
static_assert(std::is_trivially_copyable_v<Found> && std::is_trivially_copyable_v<Wanted>);

template <class Scored>
Scored scored(const KeptBox& box) {
  Scored out;
  out.picture = box.picture;
  out.label = box.label;
  out.left = box.left;
  out.top = box.top;
  out.width = static_cast<double>(box.right) - box.left;
  out.height = static_cast<double>(box.bottom) - box.top;
  return out;
}

template <class Box>
void append_bytes(const std::vector<Box>& boxes, std::string& bytes) {
  const std::uint64_t count = boxes.size();
  bytes.append(reinterpret_cast<const char*>(&count), sizeof count);
  bytes.append(reinterpret_cast<const char*>(boxes.data()), count * sizeof(Box));
}

template <class Box>
void take_bytes(std::string_view& bytes, std::vector<Box>& boxes) {
  std::uint64_t count = 0;
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes.remove_prefix(sizeof count);
  const std::size_t before = boxes.size();
  boxes.resize(before + count);
  std::memcpy(boxes.data() + before, bytes.data(), count * sizeof(Box));
  bytes.remove_prefix(count * sizeof(Box));
}

at::Tensor on_host(const at::Tensor& tensor, at::ScalarType type) {
  return tensor.to(at::kCPU, type).contiguous();
}

/// The rows of a batch's predictions that can give a box, on the host. Nearly all of the 25200 of a
/// picture cannot: they are left behind on the device, so that little is copied.
class LikelyRows {
 public:
  explicit LikelyRows(const at::Tensor& predictions) : columns_(predictions.size(2)) {
    const at::Tensor objectness = predictions.select(2, kBoxColumns - 1);
    const at::Tensor best =
        predictions.narrow(2, kBoxColumns, columns_ - kBoxColumns).amax(2) * objectness;
    const at::Tensor is_likely = objectness.gt(kSuppression.least_confidence)
                                     .logical_and_(best.gt(kSuppression.least_confidence));
    const at::Tensor places = is_likely.flatten().nonzero().squeeze(1);
    rows_ = on_host(predictions.flatten(0, 1).index_select(0, places), at::kFloat);
    ends_ = on_host(is_likely.sum(1).cumsum(0), at::kLong);
  }

  /// [N, columns] of a picture of the batch, in the order of the predictions.
  std::span<const float> of(std::int64_t picture) const {
    const std::int64_t* ends = ends_.const_data_ptr<std::int64_t>();
    const std::int64_t begin = picture == 0 ? 0 : ends[picture - 1];
    return {rows_.const_data_ptr<float>() + begin * columns_,
            static_cast<std::size_t>((ends[picture] - begin) * columns_)};
  }
  std::size_t classes() const { return static_cast<std::size_t>(columns_ - kBoxColumns); }

 private:
  std::int64_t columns_;
  at::Tensor rows_;
  at::Tensor ends_;  // of each picture's rows
};

class DetectionMetric : public Metric {
 public:
  void add(const std::vector<at::Tensor>& outputs, const Batch& batch,
           std::span<const std::int64_t> samples) override {
    add_found(outputs.at(0), batch, samples);
    add_wanted(batch, samples);
  }
  std::string state() const override {
    std::string bytes;
    append_bytes(found_, bytes);
    append_bytes(wanted_, bytes);
    return bytes;
  }
  void absorb(std::string_view state) override {
    take_bytes(state, found_);
    take_bytes(state, wanted_);
  }
  std::map<std::string, double> values() const override {
    std::vector<measure::ScoredBox> found;
    for (const Found& box : found_) {
      found.push_back(scored<measure::ScoredBox>(box));
      found.back().score = box.score;
    }
    std::vector<measure::TrueBox> wanted;
    for (const Wanted& box : wanted_) {
      wanted.push_back(scored<measure::TrueBox>(box));
      wanted.back().is_crowd = box.is_crowd != 0;
    }
    const auto score = measure::score_detections(wanted, found);
    if (!score) return {};
    return {{"map50", score->map50}, {"map50_95", score->map50_95}};
  }

 private:
  void add_found(const at::Tensor& predictions, const Batch& batch,
                 std::span<const std::int64_t> samples) {
    const LikelyRows likely(predictions);
    const auto count = static_cast<std::int64_t>(samples.size());
    std::vector<std::vector<measure::DetectedBox>> kept(samples.size());
    data::parallel_for(count, data::thread_count(0, count), [&](int, std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      if (samples[at] < 0) return;
      kept[at] = measure::suppress(likely.of(i), likely.classes(), kSuppression);
    });
    const at::Tensor corners = on_host(batch["content"], at::kFloat) * sides(batch);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const float* content = corners.const_data_ptr<float>() + 4 * i;
      for (const measure::DetectedBox& box : kept[i]) {
        found_.push_back({{static_cast<std::int32_t>(samples[i]), box.label,
                           std::clamp(box.left, content[0], content[2]),
                           std::clamp(box.top, content[1], content[3]),
                           std::clamp(box.right, content[0], content[2]),
                           std::clamp(box.bottom, content[1], content[3])},
                          box.score});
      }
    }
  }

  void add_wanted(const Batch& batch, std::span<const std::int64_t> samples) {
    const at::Tensor targets = on_host(batch["targets"], at::kFloat);  // [B, M, 5]
    const at::Tensor half = targets.narrow(2, 3, 2) / 2;
    const at::Tensor centre = targets.narrow(2, 1, 2);
    const at::Tensor corners = at::cat({centre - half, centre + half}, 2) * sides(batch);
    const at::Tensor labels = targets.select(2, 0).to(at::kInt).contiguous();
    const at::Tensor crowds = on_host(batch["crowd"], at::kInt);
    const std::int64_t rows = targets.size(1);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples[i] < 0) continue;
      const std::int64_t first = static_cast<std::int64_t>(i) * rows;
      for (std::int64_t row = first; row < first + rows; ++row) {
        const std::int32_t label = labels.const_data_ptr<std::int32_t>()[row];
        if (label < 0) continue;
        const float* box = corners.const_data_ptr<float>() + 4 * row;
        wanted_.push_back(
            {{static_cast<std::int32_t>(samples[i]), label, box[0], box[1], box[2], box[3]},
             crowds.const_data_ptr<std::int32_t>()[row]});
      }
    }
  }

  /// [4] on the host: what makes corners in parts of the input's sides pixels.
  static at::Tensor sides(const Batch& batch) {
    const at::Tensor& images = batch["images"];  // [B, 3, H, W]
    const auto width = static_cast<float>(images.size(3));
    const auto height = static_cast<float>(images.size(2));
    return at::tensor({width, height, width, height});
  }

  std::vector<Found> found_;
  std::vector<Wanted> wanted_;
};

}  // namespace

std::unique_ptr<Metric> make_detection_metric() {
  return std::make_unique<DetectionMetric>();
}

}  // namespace falcon::train
