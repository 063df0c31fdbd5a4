// Data set `synthetic`: what suits the task, of the shapes that its real data sets have.
#pragma once
#include <memory>

#include "data/catalog.h"

namespace falcon::data {

/// Throws falcon::Error (kUsage) for a task that there is nothing for.
std::unique_ptr<Dataset> make_synthetic(const DatasetOptions& options);

}  // namespace falcon::data
