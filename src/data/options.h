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

}  // namespace falcon::data
