// The data set that a resolved spec asks for.
#pragma once
#include <cstdint>
#include <string>

#include "data/catalog.h"
#include "falconbench/run_spec.h"

namespace falcon::data {

/// folder: plan::data_folder(). classes: of the model; for synthetic data also of the data.
DatasetOptions dataset_options(const RunSpec& resolved, const std::string& folder,
                               std::int64_t classes);

/// The samples that `evaluate` runs through the model, with the classes of the training data.
DatasetOptions validation_options(const RunSpec& resolved, const std::string& folder,
                                  std::int64_t classes);
/// The seed of their keys: other made samples than those that are trained on.
std::uint64_t validation_seed(const RunSpec& resolved);

}  // namespace falcon::data
