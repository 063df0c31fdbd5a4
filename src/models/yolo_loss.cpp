#include "models/yolo_loss.h"

#include <numbers>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/atan.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

namespace falcon::models {

namespace {

constexpr double kTiny = 1e-7;
constexpr double kHalfCell = 0.5;

/// One coordinate of the targets [N] in cells of a map of `size` cells.
struct Axis {
  at::Tensor place;      // centre of the box, [N]
  at::Tensor extent;     // its side, [N]
  at::Tensor near_low;   // bool [N]: nearer than half a cell to the cell before, and that is there
  at::Tensor near_high;  // the same for the cell behind
};

Axis axis_of(const at::Tensor& targets_N5, std::int64_t coordinate, std::int64_t size) {
  const auto cells = static_cast<double>(size);
  Axis axis;
  axis.place = targets_N5.select(1, 1 + coordinate) * cells;
  axis.extent = targets_N5.select(1, 3 + coordinate) * cells;
  const at::Tensor from_end = cells - axis.place;
  axis.near_low = at::remainder(axis.place, 1).lt(kHalfCell).logical_and_(axis.place.gt(1));
  axis.near_high = at::remainder(from_end, 1).lt(kHalfCell).logical_and_(from_end.gt(1));
  return axis;
}

/// Cells [5, N] of the five places; shift_low and shift_high say which of them lies half a cell
/// before and behind.
at::Tensor cells_of(const Axis& axis, std::int64_t size, std::size_t shift_low,
                    std::size_t shift_high) {
  std::array<at::Tensor, 5> places;
  places.fill(axis.place);
  places[shift_low] = axis.place - kHalfCell;
  places[shift_high] = axis.place + kHalfCell;
  return at::stack(places).to(at::kLong).clamp_(0, size - 1);
}

/// bool [A, N]: both ratios of the sides are below the threshold in both directions.
at::Tensor fits(const Axis& x, const Axis& y, const at::Tensor& anchors_A2, double threshold) {
  const auto fits_one = [&](const Axis& axis, std::int64_t side) {
    const at::Tensor ratio = axis.extent / anchors_A2.select(1, side).unsqueeze(1);
    return at::maximum(ratio, ratio.reciprocal()).lt(threshold);
  };
  return fits_one(x, 0).logical_and_(fits_one(y, 1));
}

/// [R] of what varies over some of [5, A, N].
at::Tensor rows_of(const at::Tensor& values_5AN, at::IntArrayRef shape) {
  return values_5AN.expand(shape).reshape({-1});
}

/// CIoU [R] of boxes [R, 4] given by centre and sides.
at::Tensor complete_iou(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor overlap, squared_diagonal, squared_distance;
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    const at::Tensor a_half = a.select(1, 2 + axis) / 2, b_half = b.select(1, 2 + axis) / 2;
    const at::Tensor a_place = a.select(1, axis), b_place = b.select(1, axis);
    const at::Tensor a_low = a_place - a_half, a_high = a_place + a_half;
    const at::Tensor b_low = b_place - b_half, b_high = b_place + b_half;
    const at::Tensor common =
        (at::minimum(a_high, b_high) - at::maximum(a_low, b_low)).clamp_min(0);
    const at::Tensor hull = at::maximum(a_high, b_high) - at::minimum(a_low, b_low);
    const at::Tensor between = b_place - a_place;
    overlap = axis == 0 ? common : overlap * common;
    squared_diagonal = axis == 0 ? hull.square() : squared_diagonal + hull.square();
    squared_distance = axis == 0 ? between.square() : squared_distance + between.square();
  }
  const at::Tensor a_width = a.select(1, 2), a_height = a.select(1, 3);
  const at::Tensor b_width = b.select(1, 2), b_height = b.select(1, 3);
  const at::Tensor iou = overlap / (a_width * a_height + b_width * b_height - overlap + kTiny);
  const at::Tensor angle = at::atan(b_width / b_height) - at::atan(a_width / a_height);
  const at::Tensor shape = angle.square() * (4 / (std::numbers::pi * std::numbers::pi));
  const at::Tensor alpha = [&] {
    const at::NoGradGuard no_grad;
    return shape / (shape - iou + (1 + kTiny));
  }();
  return iou - (squared_distance / (squared_diagonal + kTiny) + shape * alpha);
}

/// Boxes [R, 4] in cells, relative to the cell's corner, of the logits of matched cells.
at::Tensor decoded(const at::Tensor& logits_R, const at::Tensor& anchors_R2) {
  const at::Tensor unit = at::sigmoid(logits_R.narrow(1, 0, 4));
  const at::Tensor place = unit.narrow(1, 0, 2) * 2 - kHalfCell;
  const at::Tensor sides = (unit.narrow(1, 2, 2) * 2).square() * anchors_R2;
  return at::cat({place, sides}, 1);
}

/// The objectness target of every cell: the value of its last match, 0 without one.
at::Tensor last_values(const at::Tensor& values_R, const at::Tensor& valid_R,
                       const at::Tensor& cell_R, std::int64_t cells) {
  const at::TensorOptions counts = cell_R.options();
  const at::Tensor order = at::where(valid_R, at::arange(values_R.size(0), counts), -1);
  const at::Tensor last = at::full({cells}, -1, counts).scatter_reduce(0, cell_R, order, "amax");
  return at::where(last.ge(0), values_R.index_select(0, last.clamp_min(0)), 0);
}

struct Parts {
  at::Tensor box, objectness, classes;  // without gains
};

/// Mean over the matches of the cross entropies of all classes.
at::Tensor class_part(const at::Tensor& logits_RC, const YoloMatches& matches,
                      const at::Tensor& weight_R, double smoothing) {
  const std::int64_t classes = logits_RC.size(1);
  const at::Tensor all = at::arange(classes, matches.label.options());
  const at::Tensor is_label = matches.label.unsqueeze(1).eq(all);
  const at::Tensor wanted =
      is_label.to(logits_RC.scalar_type()).mul_(1 - smoothing).add_(smoothing / 2);
  const at::Tensor weight = (weight_R / static_cast<double>(classes)).unsqueeze(1);
  return at::binary_cross_entropy_with_logits(logits_RC, wanted, weight, /*pos_weight=*/{},
                                              at::Reduction::Sum);
}

Parts level_parts(const at::Tensor& map, const at::Tensor& targets_BM5,
                  const at::Tensor& anchors_A2, const YoloLossOptions& options) {
  const std::int64_t rows = map.size(2), columns = map.size(3), entries = map.size(4);
  const at::ScalarType type = anchors_A2.scalar_type();
  // cells as they lie in a channels_last map, where this is a view: [B * rows * columns * A,
  // entries]
  const at::Tensor flat = map.permute({0, 2, 3, 1, 4}).reshape({-1, entries});
  const YoloMatches m =
      match_targets(targets_BM5, anchors_A2, rows, columns, options.anchor_threshold);
  const at::Tensor matched_cell =
      ((m.image * rows + m.row) * columns + m.column) * map.size(1) + m.anchor;
  // rows without a match read cells apart: the zeros of their gradients would queue for a few cells
  const at::Tensor apart = at::arange(m.valid.size(0), m.image.options()).remainder(flat.size(0));
  const at::Tensor cell = at::where(m.valid, matched_cell, apart);
  const at::Tensor matched = flat.index_select(0, cell).to(type);
  // what each match counts in a mean over the matches, 0 for the others
  const at::Tensor valid = m.valid.to(type);
  const at::Tensor weight = valid / valid.sum().clamp_min(1);
  const at::Tensor iou =
      complete_iou(decoded(matched, anchors_A2.index_select(0, m.anchor)), m.box);
  Parts parts;
  parts.box = ((1 - iou) * weight).sum();
  const at::Tensor wanted = last_values(iou.detach().clamp_min(0), m.valid, cell, flat.size(0));
  parts.objectness = at::binary_cross_entropy_with_logits(flat.select(1, 4).to(type), wanted);
  // one class needs no part of its own: objectness says it
  parts.classes = entries > 6 ? class_part(matched.narrow(1, 5, entries - 5), m, weight,
                                           options.label_smoothing)
                              : at::zeros({}, valid.options());
  return parts;
}

}  // namespace

YoloMatches match_targets(const at::Tensor& targets_BM5, const at::Tensor& anchors_A2,
                          std::int64_t rows, std::int64_t columns, double anchor_threshold) {
  const at::NoGradGuard no_grad;
  const std::int64_t images = targets_BM5.size(0), per_image = targets_BM5.size(1);
  const std::int64_t anchors = anchors_A2.size(0), count = images * per_image;
  const at::Tensor targets = targets_BM5.reshape({count, 5}).to(anchors_A2.scalar_type());
  const Axis x = axis_of(targets, 0, columns);
  const Axis y = axis_of(targets, 1, rows);
  const at::Tensor fitting = fits(x, y, anchors_A2, anchor_threshold)
                                 .logical_and_(targets.select(1, 0).ge(0).unsqueeze(0));
  const at::Tensor sides =
      at::stack({at::ones_like(x.near_low), x.near_low, y.near_low, x.near_high, y.near_high});
  const std::array<std::int64_t, 3> shape{5, anchors, count};
  const at::Tensor column = cells_of(x, columns, 1, 3);
  const at::Tensor row = cells_of(y, rows, 2, 4);
  const at::TensorOptions numbers = targets.options().dtype(at::kLong);
  YoloMatches matches;
  matches.valid = fitting.unsqueeze(0).logical_and(sides.unsqueeze(1)).reshape({-1});
  const at::Tensor image = at::arange(images, numbers).unsqueeze(1).expand({images, per_image});
  matches.image = rows_of(image.reshape({count}), shape);
  matches.anchor = rows_of(at::arange(anchors, numbers).unsqueeze(1), shape);
  matches.row = rows_of(row.unsqueeze(1), shape);
  matches.column = rows_of(column.unsqueeze(1), shape);
  matches.label = rows_of(targets.select(1, 0).to(at::kLong), shape);
  const at::Tensor box = at::stack({rows_of((x.place - column).unsqueeze(1), shape),
                                    rows_of((y.place - row).unsqueeze(1), shape),
                                    rows_of(x.extent, shape), rows_of(y.extent, shape)},
                                   1);
  // what is no match has some box all the same, so that nothing computed from it is not finite
  matches.box = at::where(matches.valid.unsqueeze(1), box, 1);
  return matches;
}

YoloLoss yolo_loss(const std::vector<at::Tensor>& maps, const at::Tensor& targets_BM5,
                   const at::Tensor& anchors_LA2, const YoloLossOptions& options) {
  YoloLoss loss;
  for (std::size_t level = 0; level < maps.size(); ++level) {
    const at::Tensor anchors = anchors_LA2.select(0, static_cast<std::int64_t>(level));
    const Parts parts = level_parts(maps[level], targets_BM5, anchors, options);
    const at::Tensor objectness = parts.objectness * options.balance.at(level);
    loss.box = level == 0 ? parts.box : loss.box + parts.box;
    loss.objectness = level == 0 ? objectness : loss.objectness + objectness;
    loss.classes = level == 0 ? parts.classes : loss.classes + parts.classes;
  }
  loss.box = loss.box * options.box_gain;
  loss.objectness = loss.objectness * options.objectness_gain;
  loss.classes = loss.classes * options.class_gain;
  const auto images = static_cast<double>(targets_BM5.size(0));
  loss.total = (loss.box + loss.objectness + loss.classes) * images;
  return loss;
}

}  // namespace falcon::models
