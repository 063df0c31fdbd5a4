#include "data/synthetic_boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/counter_random.h"
#include "data/detection_layout.h"
#include "data/random_bytes.h"
#include "falconbench/clock.h"

namespace falcon::data {
namespace {

constexpr std::int64_t kCocoPictures = 118287;  // of train2017
constexpr double kEmptyShare = 1021.0 / 118287;
constexpr double kMeanOfOthers = 860001.0 / (118287 - 1021);
// of the logarithm of the root of a box's area in parts of the picture's side, here 640 pixels
constexpr double kLogSideMean = -2.7185;
constexpr double kLogSideDeviation = 1.2186;
constexpr double kLogAspectDeviation = 0.5;

using Target = std::array<float, 5>;

std::int64_t random_count(base::CounterRandom& random) {
  if (random.uniform() < kEmptyShare) return 0;
  const double more = std::log1p(-random.uniform()) / std::log1p(-1 / kMeanOfOthers);
  return std::min(1 + static_cast<std::int64_t>(more), SyntheticBoxes::kMostTargets);
}

/// Box and Muller 1958.
double random_normal(base::CounterRandom& random) {
  const double radius = std::sqrt(-2 * std::log1p(-random.uniform()));
  return radius * std::cos(random.uniform(0, 2 * std::numbers::pi));
}

Target random_target(base::CounterRandom& random, std::int64_t classes) {
  const std::uint64_t label = random.below(static_cast<std::uint64_t>(classes));
  const double side = std::exp(kLogSideMean + kLogSideDeviation * random_normal(random));
  const double aspect = std::exp(kLogAspectDeviation * random_normal(random));
  const double width = std::min(side * aspect, 1.0);
  const double height = std::min(side / aspect, 1.0);
  const double x = random.uniform(width / 2, 1 - width / 2);
  const double y = random.uniform(height / 2, 1 - height / 2);
  return {static_cast<float>(label), static_cast<float>(x), static_cast<float>(y),
          static_cast<float>(width), static_cast<float>(height)};
}

}  // namespace

SyntheticBoxes::SyntheticBoxes(const DatasetOptions& options)
    : SyntheticDataset(options.count.value_or(kCocoPictures)),
      image_size_(options.image_size),
      classes_(options.classes),
      evaluation_(options.evaluation) {
  need_at_least(1, "image size", image_size_);
  need_at_least(1, "number of classes", classes_);
}

std::vector<TensorLayout> SyntheticBoxes::layout() const {
  return detection_layout(image_size_, kMostTargets, evaluation_);
}

bool SyntheticBoxes::read(const SampleKey& key, std::span<std::byte* const> destinations,
                          ReadScratch&, ReadCost& cost, SkippedItem&) const {
  const double start_s = steady_now_s();
  const auto index = static_cast<std::uint64_t>(key.index);
  const base::CounterRandom pixels({key.seed, 1, index});
  base::CounterRandom boxes({key.seed, 2, index});
  fill_random_bytes(pixels, destinations[0],
                    static_cast<std::size_t>(image_size_ * image_size_ * 3));
  std::array<Target, kMostTargets> targets;
  targets.fill({-1, 0, 0, 0, 0});
  const std::int64_t count = random_count(boxes);
  for (std::int64_t i = 0; i < count; ++i) {
    targets[static_cast<std::size_t>(i)] = random_target(boxes, classes_);
  }
  std::memcpy(destinations[1], targets.data(), sizeof targets);
  if (evaluation_) {
    std::memset(destinations[2], 0, kMostTargets);
    constexpr float kWhole[] = {0, 0, 1, 1};
    std::memcpy(destinations[3], kWhole, sizeof kWhole);
  }
  cost.decode_s += steady_now_s() - start_s;
  return true;
}

std::map<std::string, std::string> SyntheticBoxes::facts() const {
  return {{"format", "synthetic"},
          {"classes", std::to_string(classes_)},
          {"samples", std::to_string(size())},
          {"boxes", "7.3 a picture in the mean, as in COCO train2017; padded to " +
                        std::to_string(kMostTargets)}};
}

}  // namespace falcon::data
