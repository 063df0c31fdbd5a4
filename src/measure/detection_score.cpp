#include "measure/detection_score.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace falcon::measure {
namespace {

constexpr std::size_t kThresholds = 10;
constexpr int kRecalls = 101;
constexpr std::size_t kMostDetections = 100;  // of a label in a picture

double threshold(std::size_t i) {
  return i + 1 == kThresholds ? 0.95 : 0.5 + static_cast<double>(i) * ((0.95 - 0.5) / 9);
}

// For a crowd: the part of the detection that lies in it.
double overlap(const ScoredBox& d, const TrueBox& t) {
  const double width = std::min(d.left + d.width, t.left + t.width) - std::max(d.left, t.left);
  const double height = std::min(d.top + d.height, t.top + t.height) - std::max(d.top, t.top);
  if (width <= 0 || height <= 0) return 0;
  const double both = width * height;
  const double area = d.width * d.height;
  return both / (t.is_crowd ? area : area + t.width * t.height - both);
}

enum class Verdict : char { kWrong, kRight, kIgnored };
struct Judged {
  double score = 0;
  std::array<Verdict, kThresholds> verdicts{};
};
struct LabelBoxes {
  std::vector<TrueBox> truth;
  std::vector<ScoredBox> detections;
};
using PictureBoxes = std::map<std::int64_t, LabelBoxes>;  // by picture

// Best detections first; each takes the free box that it overlaps most, a crowd only when no other
// will do (COCOeval.evaluateImg).
void judge_at(const LabelBoxes& boxes, std::size_t level, std::vector<Judged>& judged,
              std::size_t first) {
  std::vector<bool> is_taken(boxes.truth.size());
  for (std::size_t d = 0; d < boxes.detections.size(); ++d) {
    double best = std::min(threshold(level), 1 - 1e-10);
    std::size_t match = boxes.truth.size();
    for (std::size_t t = 0; t < boxes.truth.size(); ++t) {
      const bool is_crowd = boxes.truth[t].is_crowd;
      if (is_taken[t] && !is_crowd) continue;
      const bool has_match = match < boxes.truth.size();
      if (has_match && !boxes.truth[match].is_crowd && is_crowd) break;  // crowds come last
      const double found = overlap(boxes.detections[d], boxes.truth[t]);
      if (found < best) continue;
      best = found;
      match = t;
    }
    Verdict& verdict = judged[first + d].verdicts[level];
    if (match == boxes.truth.size()) continue;
    is_taken[match] = true;
    verdict = boxes.truth[match].is_crowd ? Verdict::kIgnored : Verdict::kRight;
  }
}

std::vector<Judged> judge(PictureBoxes& pictures) {
  std::vector<Judged> judged;
  for (auto& [picture, boxes] : pictures) {
    std::ranges::stable_sort(boxes.detections, std::greater<>(), &ScoredBox::score);
    if (boxes.detections.size() > kMostDetections) boxes.detections.resize(kMostDetections);
    std::ranges::stable_sort(boxes.truth, {}, &TrueBox::is_crowd);
    const std::size_t first = judged.size();
    for (const ScoredBox& d : boxes.detections) judged.push_back({d.score, {}});
    for (std::size_t level = 0; level < kThresholds; ++level) judge_at(boxes, level, judged, first);
  }
  std::ranges::stable_sort(judged, std::greater<>(), &Judged::score);
  return judged;
}

// Mean precision at 101 recalls, each the best at that recall or a higher one
// (COCOeval.accumulate).
double average_precision(const std::vector<Judged>& judged, std::size_t level,
                         std::int64_t wanted) {
  std::vector<double> recalls;
  std::vector<double> precisions;
  double right = 0;
  double wrong = 0;
  for (const Judged& one : judged) {
    if (one.verdicts[level] == Verdict::kRight) ++right;
    if (one.verdicts[level] == Verdict::kWrong) ++wrong;
    recalls.push_back(right / static_cast<double>(wanted));
    precisions.push_back(right / (right + wrong + std::numeric_limits<double>::epsilon()));
  }
  for (std::size_t i = precisions.size(); i > 1; --i) {
    precisions[i - 2] = std::max(precisions[i - 2], precisions[i - 1]);
  }
  double sum = 0;
  for (int r = 0; r < kRecalls; ++r) {
    const double recall = r + 1 == kRecalls ? 1.0 : r * 0.01;
    const auto at = std::ranges::lower_bound(recalls, recall);
    if (at == recalls.end()) break;
    sum += precisions[static_cast<std::size_t>(at - recalls.begin())];
  }
  return sum / kRecalls;
}

}  // namespace

std::optional<DetectionScore> score_detections(const std::vector<TrueBox>& truth,
                                               const std::vector<ScoredBox>& detections) {
  std::map<std::int64_t, PictureBoxes> labels;
  std::map<std::int64_t, std::int64_t> wanted;  // boxes of a label that are no crowds
  for (const TrueBox& box : truth) {
    labels[box.label][box.picture].truth.push_back(box);
    if (!box.is_crowd) ++wanted[box.label];
  }
  if (wanted.empty()) return std::nullopt;
  for (const ScoredBox& box : detections) labels[box.label][box.picture].detections.push_back(box);
  DetectionScore score;
  for (const auto& [label, count] : wanted) {
    const std::vector<Judged> judged = judge(labels[label]);
    for (std::size_t level = 0; level < kThresholds; ++level) {
      const double precision = average_precision(judged, level, count);
      if (level == 0) score.map50 += precision;
      score.map50_95 += precision / kThresholds;
    }
  }
  score.map50 /= static_cast<double>(wanted.size());
  score.map50_95 /= static_cast<double>(wanted.size());
  return score;
}

}  // namespace falcon::measure
