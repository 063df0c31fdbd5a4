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

const CacheState* cache_of(const Observation& o) {
  const Measured<CacheState>& cache = o.report.storage.cache;
  return cache.has_value() ? &*cache.value : nullptr;
}

}  // namespace

Notes io_not_as_asked(const Observation& o) {
  const Storage& storage = o.report.storage;
  if (!storage.io_fallback.has_value()) return {};
  return {{"files were not read as data.loader.io says: " + o.report.spec.data.loader.io,
           *storage.io_fallback,
           "set data.loader.io: buffered, or read from a file system that can do it"}};
}

Notes cache_not_as_asked(const Observation& o) {
  const CacheState* cache = cache_of(o);
  if (cache == nullptr) return {};
  const Measured<double>& resident = cache->resident_begin_pct;
  const Measured<double>& fetched = o.report.storage.from_storage_pct;
  const bool is_warm = cache->asked == kWarmCache;
  std::string evidence;
  if (cache->asked == kColdCache && resident.has_value() && *resident > kColdPct) {
    evidence = pct(*resident) + " of the training files in memory when the workers started";
  } else if (is_warm && resident.has_value() && *resident < kWarmPct) {
    evidence = pct(*resident) + " of the training files in memory when the workers started";
  } else if (is_warm && fetched.has_value() && *fetched > kEvictedPct) {
    evidence = pct(*fetched) + " of what was read while measuring came from storage";
  }
  if (evidence.empty()) return {};
  return {{"the page cache was not " + cache->asked + ", as data.cache asks",
           evidence + "; " + cache->made_by,
           is_warm ? "use a data set that fits into memory, or data.cache: any"
                   : "run where the page cache can be dropped, or use data.loader.io: direct"}};
}

Notes page_cache_warm(const Observation& o) {
  const CacheState* cache = cache_of(o);
  const Storage& storage = o.report.storage;
  if (cache == nullptr || !storage.from_storage_pct.has_value()) return {};
  const bool compares_storage = !o.report.spec.storage.empty() && cache->asked == kAnyCache;
  const double from_memory_pct = 100 - *storage.from_storage_pct;
  if (cache->asked != kColdCache && !compares_storage) return {};
  if (from_memory_pct <= kFromMemoryPct) return {};
  return {
      {"the measured steps read from memory, not from storage",
       pct(from_memory_pct) + " of the bytes came from the page cache",
       "these figures do not tell of the storage: use a larger data set, fewer passes and warm-up "
       "steps with data.cache: cold, or data.loader.io: direct"}};
}

}  // namespace falcon::report::rules
