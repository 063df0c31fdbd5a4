// How fast a storage gives files of a data set: one after the other, and as a loader asks for them.
#pragma once
#include <cstdint>
#include <functional>

#include "falconbench/dataset.h"
#include "falconbench/report_storage.h"

namespace falcon::data {

struct ProbeBounds {  // of each of the two trials
  double seconds = 1;
  std::int64_t bytes = std::int64_t{512} << 20;
};

struct ProbeSurroundings {
  /// Bytes that this process has fetched from storage so far.
  std::function<Measured<std::int64_t>()> storage_bytes;
  /// Called often, from any thread; what it throws passes through.
  std::function<void()> check;
};

/// Reads whole files past the page cache (O_DIRECT), so that the device answers and the cache stays
/// as it is; through it, with a reason, where that is refused. Each trial reads a file at most
/// once, and the second one files that the first did not read where there are enough. threads:
/// readers of the second trial. REQUIRES: dataset.file_count() > 0.
StorageProbe probe_storage(const Dataset& dataset, int threads, const ProbeBounds& bounds,
                           const ProbeSurroundings& surroundings);

}  // namespace falcon::data
