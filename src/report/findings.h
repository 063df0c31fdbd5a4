// Rules that look at a finished report for what a reader should know. The table of their names is
// in catalog.cpp.
#pragma once
#include <string>
#include <vector>

#include "falconbench/finding.h"
#include "falconbench/report.h"
#include "report/evidence.h"

namespace falcon::report {

/// The report with all sections but findings and run.status filled in, and what it was made from.
struct Observation {
  const Report& report;
  const Evidence& evidence;
};

/// A finding without its name and severity, which the table has.
struct Note {
  std::string message, evidence, advice;
};
using Notes = std::vector<Note>;

/// The storage of one host; where: " on host NAME" in a run on several.
struct PlacedStorage {
  const StorageFigures& figures;
  std::string where;
};
std::vector<PlacedStorage> storages_of(const Report& report);

/// All that the rules find, in the order of the table.
std::vector<Finding> make_findings(const Observation& observation);
/// Names of the table.
std::vector<std::string> rule_names();

namespace rules {
Notes data_skipped(const Observation& o);
Notes loader_bound(const Observation& o);
Notes no_warmup(const Observation& o);
Notes few_steps(const Observation& o);
Notes first_step_slow(const Observation& o);
Notes unstable_steps(const Observation& o);
Notes loss_not_finite(const Observation& o);
Notes loss_scale_skips(const Observation& o);
Notes stragglers(const Observation& o);
Notes parameters_differ(const Observation& o);
Notes unclean_exit(const Observation& o);
Notes partial_batch_dropped(const Observation& o);
Notes phases_do_not_sum(const Observation& o);
Notes step_clock_differs(const Observation& o);
Notes topology_mismatched(const Observation& o);
Notes topology_unknown(const Observation& o);
Notes emulation_failed(const Observation& o);
Notes nccl_fallback(const Observation& o);
Notes cpu_oversubscribed(const Observation& o);
Notes exchange_off(const Observation& o);
Notes no_graph(const Observation& o);
Notes weights_missing(const Observation& o);
Notes worker_note(const Observation& o);
Notes telemetry_missing(const Observation& o);
Notes gpu_throttled(const Observation& o);
Notes pcie_link_degraded(const Observation& o);
Notes gpu_power_capped(const Observation& o);
Notes gpu_clocks_low(const Observation& o);
Notes gpu_shared(const Observation& o);
Notes gpu_memory_faulty(const Observation& o);
Notes gpu_memory_worn(const Observation& o);
Notes numa_mismatch(const Observation& o);
Notes cpu_quota_throttled(const Observation& o);
Notes shared_memory_small(const Observation& o);
Notes peer_access_blocked(const Observation& o);
Notes iommu_translates(const Observation& o);
Notes io_not_as_asked(const Observation& o);
Notes cache_not_as_asked(const Observation& o);
Notes page_cache_warm(const Observation& o);
}  // namespace rules

}  // namespace falcon::report
