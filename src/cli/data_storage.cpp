#include "cli/data_storage.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "data/page_cache.h"
#include "data/storage_probe.h"
#include "falconbench/clock.h"
#include "platform/process_usage.h"
#include "platform/storage_place.h"

namespace falcon::cli {
namespace {

constexpr std::int64_t kMostSampled = 4096;  // files that mincore looks at
constexpr int kMostReaders = 32;
constexpr double kColdEnoughPct = 1;
constexpr const char* kDropCaches = "/proc/sys/vm/drop_caches";

/// Of the loaders on the host.
int all_threads(const Plan& plan, const Host& host) {
  int threads = 0;
  for (const RankPlan& rank : plan.ranks) {
    if (rank.host == host.hostname) threads += rank.decode_threads;
  }
  return std::clamp(threads, 1, kMostReaders);
}

/// Pages that are not written yet cannot be dropped.
void write_back(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  syncfs(descriptor);
  close(descriptor);
}

/// "" or why not. Drops the page cache of the whole machine.
std::string drop_all_caches() {
  const int descriptor = open(kDropCaches, O_WRONLY | O_CLOEXEC);
  const bool good = descriptor >= 0 && write(descriptor, "1\n", 2) == 2;
  const int problem = errno;
  if (descriptor >= 0) close(descriptor);
  return good ? "" : std::generic_category().message(problem);
}

/// Memory that files may take, as far as it can be told.
Measured<std::int64_t> free_memory(const Host& host) {
  const auto text = platform::Root().read("proc/meminfo");
  if (!text.has_value()) return Measured<std::int64_t>::missing(text.reason);
  auto bytes = platform::number_after(*text, "MemAvailable:");
  if (!bytes.has_value()) return bytes;
  *bytes.value *= 1024;
  if (host.memory_limit_bytes.has_value()) {
    bytes = std::min(*bytes, *host.memory_limit_bytes);
  }
  return bytes;
}

std::string gigabytes(double bytes) {
  return base::number_text(std::round(bytes / 1e7) / 100) + " GB";
}

}  // namespace

void DataStorage::prepare(const Plan& plan, const Host& host, const Dataset* dataset,
                          const Patience& patience) {
  if (dataset == nullptr || dataset->file_count() == 0) return;
  sample_ = data::sample_files(*dataset, kMostSampled);
  CacheState state;
  state.asked = plan.spec.data.cache.value_or(kAnyCache);
  state.files = dataset->file_count();
  state.sampled_files = std::ssize(sample_);
  const data::Residency found = data::residency(sample_);
  state.resident_found_pct = found.pct;
  state.sampled_bytes = found.bytes;
  const int threads = all_threads(plan, host);
  if (plan.spec.data.probe.value_or(false)) {
    const data::ProbeSurroundings surroundings{
        [] { return platform::process_traffic(platform::Root(), getpid()).read_bytes; },
        [&patience] { patience.check(); }};
    sight_.probe = data::probe_storage(*dataset, threads, data::ProbeBounds(), surroundings);
  } else {
    sight_.probe = Measured<StorageProbe>::missing("data.probe is off");
  }
  const double began_s = steady_now_s();
  if (state.asked == kColdCache) {
    make_cold(*dataset, plan.data.folder, state);
  } else if (state.asked == kWarmCache) {
    make_warm(*dataset, host, threads, patience, state);
  } else {
    state.made_by = "left as it was";
  }
  state.time_s = steady_now_s() - began_s;
  state.resident_begin_pct = data::residency(sample_).pct;
  sight_.cache = state;
}

void DataStorage::make_cold(const Dataset& dataset, const std::string& folder, CacheState& state) {
  write_back(folder);
  const std::string problem = data::drop_from_cache(dataset, 0);
  state.made_by = problem.empty() ? "posix_fadvise(DONTNEED) for each file"
                                  : "posix_fadvise(DONTNEED) failed: " + problem;
  const Measured<double> left = data::residency(sample_).pct;
  if (left.has_value() && *left <= kColdEnoughPct) return;
  const std::string refused = drop_all_caches();
  state.made_by += refused.empty() ? std::string("; then ") + kDropCaches
                                   : std::string("; ") + kDropCaches + ": " + refused;
}

void DataStorage::make_warm(const Dataset& dataset, const Host& host, int threads,
                            const Patience& patience, CacheState& state) const {
  const double bytes = static_cast<double>(state.sampled_bytes) * static_cast<double>(state.files) /
                       static_cast<double>(std::max<std::int64_t>(state.sampled_files, 1));
  const Measured<std::int64_t> memory = free_memory(host);
  if (memory.has_value() && bytes > static_cast<double>(*memory)) {
    state.made_by = "not read through: the files have some " + gigabytes(bytes) +
                    ", memory has room for " + gigabytes(static_cast<double>(*memory));
    return;
  }
  const std::int64_t read = data::read_through(dataset, threads, [&patience] { patience.check(); });
  state.made_by = "read through: " + std::to_string(read) + " bytes";
}

StorageSight DataStorage::finish(const Plan& plan) {
  sight_.facts = platform::find_storage(plan.data.folder);
  const std::string why =
      plan.data.folder.empty() ? "synthetic data reads nothing" : "the run did not come so far";
  if (!sight_.cache.has_value()) sight_.cache = Measured<CacheState>::missing(why);
  if (!sight_.probe.has_value() && plan.spec.data.probe.value_or(true)) {
    sight_.probe = Measured<StorageProbe>::missing(why);
  }
  if (sight_.cache.has_value()) sight_.cache.value->resident_end_pct = data::residency(sample_).pct;
  return sight_;
}

}  // namespace falcon::cli
