#include "falconbench/spec_data.h"
#include "report/figures.h"
#include "report/findings.h"

namespace falcon::report::rules {
namespace {

constexpr double kColdPct = 5;      // resident at most, when cold is asked for
constexpr double kWarmPct = 95;     // resident at least, when warm is asked for
constexpr double kEvictedPct = 10;  // fetched from storage at most, when warm is asked for
constexpr double kFromMemoryPct = 20;

std::string pct(double value) {
  return percent(value / 100);
}

const CacheState* cache_of(const StorageFigures& storage) {
  return storage.cache.has_value() ? &*storage.cache.value : nullptr;
}

/// What shows that the page cache was not as asked; "" when nothing does.
std::string cache_evidence(const StorageFigures& storage, const CacheState& cache) {
  const Measured<double>& resident = cache.resident_begin_pct;
  const Measured<double>& fetched = storage.from_storage_pct;
  const bool is_warm = cache.asked == kWarmCache;
  const bool is_wrong =
      resident.has_value() &&
      ((cache.asked == kColdCache && *resident > kColdPct) || (is_warm && *resident < kWarmPct));
  if (is_wrong) {
    return pct(*resident) + " of the training files in memory when the workers started";
  }
  if (is_warm && fetched.has_value() && *fetched > kEvictedPct) {
    return pct(*fetched) + " of what was read while measuring came from storage";
  }
  return "";
}

}  // namespace

Notes io_not_as_asked(const Observation& o) {
  Notes notes;
  for (const PlacedStorage& storage : storages_of(o.report)) {
    if (!storage.figures.io_fallback.has_value()) continue;
    notes.push_back({"files were not read as data.loader.io says" + storage.where + ": " +
                         o.report.spec.data.loader.io,
                     *storage.figures.io_fallback,
                     "set data.loader.io: buffered, or read from a file system that can do it"});
  }
  return notes;
}

Notes cache_not_as_asked(const Observation& o) {
  Notes notes;
  for (const PlacedStorage& storage : storages_of(o.report)) {
    const CacheState* cache = cache_of(storage.figures);
    if (cache == nullptr) continue;
    const std::string evidence = cache_evidence(storage.figures, *cache);
    if (evidence.empty()) continue;
    notes.push_back(
        {"the page cache was not " + cache->asked + storage.where + ", as data.cache asks",
         evidence + "; " + cache->made_by,
         cache->asked == kWarmCache
             ? "use a data set that fits into memory, or data.cache: any"
             : "run where the page cache can be dropped, or use data.loader.io: direct"});
  }
  return notes;
}

Notes page_cache_warm(const Observation& o) {
  Notes notes;
  for (const PlacedStorage& storage : storages_of(o.report)) {
    const CacheState* cache = cache_of(storage.figures);
    const Measured<double>& from_storage_pct = storage.figures.from_storage_pct;
    if (cache == nullptr || !from_storage_pct.has_value()) continue;
    const bool compares_storage = !o.report.spec.storage.empty() && cache->asked == kAnyCache;
    const double from_memory_pct = 100 - *from_storage_pct;
    if (cache->asked != kColdCache && !compares_storage) continue;
    if (from_memory_pct <= kFromMemoryPct) continue;
    notes.push_back(
        {"the measured steps read from memory, not from storage" + storage.where,
         pct(from_memory_pct) + " of the bytes came from the page cache",
         "these figures do not tell of the storage: use a larger data set, fewer passes and "
         "warm-up steps with data.cache: cold, or data.loader.io: direct"});
  }
  return notes;
}

}  // namespace falcon::report::rules

namespace falcon::report {

std::vector<PlacedStorage> storages_of(const Report& report) {
  const Storage& storage = report.storage;
  const auto where = [&storage](const std::string& host) {
    return storage.hosts.empty() ? "" : " on host " + host;
  };
  std::vector<PlacedStorage> all = {{storage, where(report.run.hostname)}};
  for (const HostStorage& other : storage.hosts) all.push_back({other, where(other.name)});
  return all;
}

}  // namespace falcon::report
