// What the training data lies on, and where what was read of it came from.
#pragma once
#include <string>

#include "falconbench/report_storage.h"
#include "falconbench/telemetry.h"
#include "report/evidence.h"

namespace falcon::report {

/// One host of the run: its name in the plan's ranks, and what its launcher saw.
struct StorageView {
  const std::string& host;
  const Utilization& utilization;
  const StorageSight& sight;
};

StorageFigures make_storage(const Evidence& evidence, const StorageView& view);
/// All missing for that reason.
StorageFigures unknown_storage(const std::string& why);

}  // namespace falcon::report
