// What the training data lies on, and where what was read of it came from.
#pragma once
#include "falconbench/report_storage.h"
#include "falconbench/telemetry.h"
#include "report/evidence.h"

namespace falcon::report {

/// What the launcher saw of the storage; each missing with its reason (synthetic data).
struct StorageSight {
  Measured<StorageFacts> facts;
  Measured<CacheState> cache;
  Measured<StorageProbe> probe;
};

Storage make_storage(const Evidence& evidence, const Utilization& utilization,
                     const StorageSight& sight);

}  // namespace falcon::report
