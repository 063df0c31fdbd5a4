// Mean average precision of detections as COCO defines it: equal to pycocotools' COCOeval for boxes
// (all areas, at most 100 detections of a class in a picture).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace falcon::measure {

/// Left, top, width, height; any unit, the same for both sides.
struct ScoredBox {
  std::int64_t picture = 0;
  std::int64_t label = 0;
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  double score = 0;  // of a detection
};
struct TrueBox {
  std::int64_t picture = 0;
  std::int64_t label = 0;
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  bool is_crowd = false;  // takes any number of detections, which then count neither way
};

struct DetectionScore {
  double map50 = 0;     // at an intersection over union of 0.5
  double map50_95 = 0;  // mean over 0.50, 0.55, ..., 0.95
};

/// Nothing when no label has a box that is no crowd. Detections of one score keep their order
/// within a picture; pictures go by number.
std::optional<DetectionScore> score_detections(const std::vector<TrueBox>& truth,
                                               const std::vector<ScoredBox>& detections);

}  // namespace falcon::measure
