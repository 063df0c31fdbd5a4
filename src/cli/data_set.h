// The data set of a run, before it starts: made if the spec says so, and looked at.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "data/catalog.h"
#include "falconbench/plan.h"

namespace falcon::cli {

/// Fills folder as the spec's data.make says, unless it is there already. What progress throws
/// passes through, and nothing is left of the folder. REQUIRES: a resolved spec with data.make.
data::MadeSet make_data(const RunSpec& resolved, const std::string& folder,
                        const data::ProgressFunction& progress = {});

struct Surveyed {
  DataFacts facts;
  std::unique_ptr<Dataset> dataset;  // of the training samples; nullptr: it is not made yet
};
/// Samples and classes. folder: plan::data_folder(). With data.make and no folder yet (--dry-run)
/// they are those that would be made.
Surveyed survey(const RunSpec& resolved, const std::string& folder);

}  // namespace falcon::cli
