// Data set `synthetic`: made from the seed and the sample's number, in the form that the model's
// task asks for.
#pragma once
#include <memory>

#include "data/catalog.h"

namespace falcon::data {

/// By options.task; throws falcon::Error (kUsage) for a task without synthetic data.
std::unique_ptr<Dataset> make_synthetic(const DatasetOptions& options);

}  // namespace falcon::data
