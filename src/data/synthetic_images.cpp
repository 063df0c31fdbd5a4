#include "data/synthetic_images.h"

#include <cstring>

#include "base/counter_random.h"
#include "data/random_bytes.h"
#include "falconbench/clock.h"

namespace falcon::data {
namespace {

constexpr std::int64_t kImageNetPictures = 1281167;  // of ImageNet-1k's training set

}  // namespace

SyntheticImages::SyntheticImages(const DatasetOptions& options)
    : SyntheticDataset(options.count.value_or(kImageNetPictures)),
      image_size_(options.image_size),
      classes_(options.classes),
      evaluation_(options.evaluation) {
  need_at_least(1, "image size", image_size_);
  need_at_least(1, "number of classes", classes_);
}

std::vector<TensorLayout> SyntheticImages::layout() const {
  std::vector<TensorLayout> tensors = {
      {"images", ElementType::kUint8, {image_size_, image_size_, 3}},
      {"labels", ElementType::kInt64, {}},
  };
  if (!evaluation_) tensors.push_back({"flip", ElementType::kUint8, {}});
  return tensors;
}

bool SyntheticImages::read(const SampleKey& key, std::span<std::byte* const> destinations,
                           ReadScratch&, ReadCost& cost, SkippedItem&) const {
  const double start_s = steady_now_s();
  const std::uint64_t index = static_cast<std::uint64_t>(key.index);
  const base::CounterRandom pixels({key.seed, 1, index});
  base::CounterRandom others({key.seed, 2, index});
  fill_random_bytes(pixels, destinations[0],
                    static_cast<std::size_t>(image_size_ * image_size_ * 3));
  const std::uint64_t label = others.below(static_cast<std::uint64_t>(classes_));
  std::memcpy(destinations[1], &label, sizeof label);
  if (!evaluation_) *destinations[2] = static_cast<std::byte>(others.next() & 1);
  cost.decode_s += steady_now_s() - start_s;
  return true;
}

std::map<std::string, std::string> SyntheticImages::facts() const {
  return {{"format", "synthetic"},
          {"classes", std::to_string(classes_)},
          {"samples", std::to_string(size())}};
}

}  // namespace falcon::data
