// YOLOv5 v7.0 (https://github.com/ultralytics/yolov5), object detection. Names as in its
// state_dict.
//
// Batches are {images [B, 3, H, W], targets [B, M, 5]}, H and W divisible by 32; a target is class,
// x, y, width, height relative to the picture, class -1 is padding. Outputs are three maps of
// logits [B, 3, H / s, W / s, 5 + classes] for the strides s = 8, 16, 32; in evaluation the
// detections [B, N, 5 + classes] come before them: centre and sides in pixels, objectness and class
// probabilities.
//
// The loss is that of models/yolo_loss.h times the number of ranks and micro-batches (ModelOptions::ranks), so that
// the average of the ranks' gradients is the gradient of the whole batch's sum. The reference
// scales two of its gains, and so does this: objectness by (image_size / 640)^2, classes by their
// number / 80.
#pragma once
#include <memory>

#include <falconbench/model.h>

namespace falcon::models {

/// Five sizes of one network: 1.9, 7.2, 21.2, 46.6 and 86.7 million parameters with 80 classes.
/// Taps: model.0 .. model.23. Throw Error(kUsage) when options ask for dropout (there is none).
std::unique_ptr<Model> make_yolov5n(const ModelOptions& options);
std::unique_ptr<Model> make_yolov5s(const ModelOptions& options);
std::unique_ptr<Model> make_yolov5m(const ModelOptions& options);
std::unique_ptr<Model> make_yolov5l(const ModelOptions& options);
std::unique_ptr<Model> make_yolov5x(const ModelOptions& options);

}  // namespace falcon::models
