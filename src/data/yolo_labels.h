// A YOLO label file: one object a line, `class x y width height` in parts of the picture, or
// `class x1 y1 x2 y2 x3 y3 ...`, a polygon of which the bounding box is taken. A byte order mark,
// CRLF, empty lines and an empty file (a background picture) are fine. Reasons for leaving a line
// out:
//   columns              not 5, and no polygon (an odd number from 7)
//   not_a_number, not_finite
//   class_out_of_range   no whole number, or none of 0 .. classes - 1
//   out_of_range         centre, size or a corner of a polygon not within 0 .. 1
//   no_area              width or height not above 0
//   duplicate_box        the same again
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/detection_set.h"

namespace falcon::data {

struct YoloLabels {
  std::vector<LabelledBox> boxes;
  std::vector<SkippedItem> skipped;  // item: `name`:line
};

/// classes 0: any label from 0 on.
YoloLabels parse_yolo_labels(std::string_view text, const std::string& name, std::int64_t classes);

}  // namespace falcon::data
