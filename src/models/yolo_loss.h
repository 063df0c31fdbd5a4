// The training loss of YOLOv5 (https://github.com/ultralytics/yolov5, v7.0) and its matching of
// targets with cells. Targets are padded to a fixed number a picture, so that all shapes are fixed
// and nothing waits for the device.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace falcon::models {

struct YoloLossOptions {
  double box_gain = 0.05;
  double objectness_gain = 1.0;
  double class_gain = 0.5;
  double anchor_threshold = 4.0;  // a box fits an anchor below this ratio of their sides
  double label_smoothing = 0;
  std::array<double, 3> balance = {4.0, 1.0, 0.4};  // of the levels in the objectness part
};

/// Rows in the reference's order: centre cells, then the cells left, top, right and below; within
/// each by anchor, then by target row. R = 5 * A * B * M; rows that are no match are masked.
struct YoloMatches {
  at::Tensor valid;  // bool [R]
  at::Tensor image;  // int64 [R], as the next three
  at::Tensor anchor;
  at::Tensor row;
  at::Tensor column;
  at::Tensor label;  // int64 [R]: the class
  at::Tensor box;    // [R, 4]: x and y from the cell's corner, width, height; in cells
};

/// targets [B, M, 5]: class (below 0: padding), x, y, w, h relative to the picture; anchors [A, 2]
/// in cells of a map of rows x columns. Computed in the type of anchors. Enqueued only.
YoloMatches match_targets(const at::Tensor& targets_BM5, const at::Tensor& anchors_A2,
                          std::int64_t rows, std::int64_t columns, double anchor_threshold);

/// Scalars, of float32 or, for float64 maps, float64.
struct YoloLoss {
  at::Tensor box;  // with their gains
  at::Tensor objectness;
  at::Tensor classes;
  at::Tensor total;  // their sum times the number of pictures
};

/// maps: per level [B, A, rows, columns, 5 + classes], logits, of any floating type; anchors
/// [levels, A, 2] in cells. Boxes are compared by CIoU (Zheng et al. 2020,
/// https://arxiv.org/abs/1911.08287), whose alpha carries no gradient; the objectness target is its
/// value without gradient, at least 0, of the last match of a cell.
YoloLoss yolo_loss(const std::vector<at::Tensor>& maps, const at::Tensor& targets_BM5,
                   const at::Tensor& anchors_LA2, const YoloLossOptions& options);

}  // namespace falcon::models
