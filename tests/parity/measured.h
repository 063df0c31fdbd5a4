// What the models give for the sections of a reference file. Everything (sizes, classes, seeds,
// batches, optimizer) is read from the file.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/model.h>

#include "models/yolo_loss.h"
#include "support/reference_set.h"

namespace falcon::test {

/// float64 runs contiguous, float32 channels_last (but for trajectories): both layouts are compared
/// with the reference.
struct Precision {
  const char* name;
  at::ScalarType type;
  bool channels_last;
};
inline std::ostream& operator<<(std::ostream& out, const Precision& precision) {
  return out << precision.name;
}
inline constexpr Precision kFloat64{"float64", at::kDouble, false};
inline constexpr Precision kFloat32{"float32", at::kFloat, true};

/// What one section needs is filled in, the rest is empty.
struct Measured {
  std::vector<NamedTensor> state;  // as made, before any conversion
  std::vector<NamedTensor> outputs;
  std::vector<NamedTensor> taps;
  std::vector<NamedTensor> gradients;
  std::vector<NamedTensor> buffers;  // floating ones that training changes
  std::vector<NamedTensor> deltas;   // of parameters and floating buffers, in double
  std::vector<std::int64_t> step_counts;
  std::vector<NamedTensor> averages;  // the exponential moving average of the state
  std::vector<double> losses;
  std::vector<std::vector<double>> loss_parts;  // a step; where the model's loss has parts
  std::vector<double> gradient_norms;
  std::map<std::string, std::int64_t> flops;  // of one forward, by operator
  std::int64_t parameters = 0;
};

/// The model of the file with its classes, filled by its seed and its table of tensors, in training
/// mode.
std::unique_ptr<Model> filled_model(const Json& file, const Precision& precision);

/// section: a name of sections(). Throws (Json::exception) when the file lacks what the section
/// needs.
Measured measure(const Json& file, const std::string& section, const Precision& precision);

/// From the names of the reference's files.
models::YoloLossOptions yolo_loss_options(const Json& hyp);

/// [images, M, 5] of rows (image, class, x, y, width, height) in the order of the images, padded.
at::Tensor padded_targets(const Json& rows, std::int64_t images);

/// float32 values of the deterministic fill.
at::Tensor filled(const std::string& key, const std::vector<std::int64_t>& shape, double offset,
                  double scale);

/// The values in row-major order, as double.
std::vector<double> to_doubles(const at::Tensor& tensor);

}  // namespace falcon::test
