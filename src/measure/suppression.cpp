#include "measure/suppression.h"

#include <algorithm>
#include <functional>

namespace falcon::measure {
namespace {

float area(const DetectedBox& box) {
  return (box.right - box.left) * (box.bottom - box.top);
}

bool overlaps(const DetectedBox& a, const DetectedBox& b, float most) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return false;
  const float both = width * height;
  return both / (area(a) + area(b) - both) > most;
}

void add_candidates(std::span<const float> row, const SuppressionOptions& options,
                    std::vector<DetectedBox>& candidates) {
  const float objectness = row[4];
  if (!(objectness > options.least_confidence)) return;
  const std::span<const float> classes = row.subspan(5);
  const DetectedBox box{
      row[0] - row[2] / 2, row[1] - row[3] / 2, row[0] + row[2] / 2, row[1] + row[3] / 2, 0, 0};
  std::size_t first = 0;
  std::size_t end = classes.size();
  if (!options.many_labels) {
    first = static_cast<std::size_t>(std::ranges::max_element(classes) - classes.begin());
    end = first + 1;
  }
  for (std::size_t label = first; label < end; ++label) {
    const float score = classes[label] * objectness;
    if (!(score > options.least_confidence)) continue;
    candidates.push_back(box);
    candidates.back().score = score;
    candidates.back().label = static_cast<std::int32_t>(label);
  }
}

}  // namespace

std::vector<DetectedBox> suppress(std::span<const float> predictions, std::size_t classes,
                                  const SuppressionOptions& options) {
  const std::size_t columns = 5 + classes;
  std::vector<DetectedBox> candidates;
  for (std::size_t at = 0; at + columns <= predictions.size(); at += columns) {
    add_candidates(predictions.subspan(at, columns), options, candidates);
  }
  std::ranges::stable_sort(candidates, std::greater<>(), &DetectedBox::score);
  if (candidates.size() > options.most_candidates) candidates.resize(options.most_candidates);
  std::vector<DetectedBox> kept;
  for (const DetectedBox& candidate : candidates) {
    if (kept.size() == options.most_boxes) break;
    const auto is_in_the_way = [&](const DetectedBox& better) {
      return better.label == candidate.label && overlaps(better, candidate, options.most_overlap);
    };
    if (std::ranges::none_of(kept, is_in_the_way)) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace falcon::measure
