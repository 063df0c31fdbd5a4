#include <array>

#include "report/findings.h"

namespace falcon::report {
namespace {

struct Row {
  const char* name;
  const char* severity;  // invalid: with `strict`, the run ends with exit code 6
  Notes (*rule)(const Observation&);
};

constexpr std::array kRows{
    Row{"topology_mismatched", "invalid", rules::topology_mismatched},
    Row{"emulation_failed", "invalid", rules::emulation_failed},
    Row{"parameters_differ", "invalid", rules::parameters_differ},
    Row{"loss_not_finite", "invalid", rules::loss_not_finite},
    Row{"step_clock_differs", "invalid", rules::step_clock_differs},
    Row{"io_not_as_asked", "invalid", rules::io_not_as_asked},
    Row{"cache_not_as_asked", "invalid", rules::cache_not_as_asked},
    Row{"gpu_memory_faulty", "invalid", rules::gpu_memory_faulty},
    Row{"exchange_off", "warning", rules::exchange_off},
    Row{"topology_unknown", "warning", rules::topology_unknown},
    Row{"page_cache_warm", "warning", rules::page_cache_warm},
    Row{"nccl_fallback", "warning", rules::nccl_fallback},
    Row{"loader_bound", "warning", rules::loader_bound},
    Row{"stragglers", "warning", rules::stragglers},
    Row{"gpu_throttled", "warning", rules::gpu_throttled},
    Row{"pcie_link_degraded", "warning", rules::pcie_link_degraded},
    Row{"gpu_power_capped", "warning", rules::gpu_power_capped},
    Row{"gpu_clocks_low", "warning", rules::gpu_clocks_low},
    Row{"gpu_shared", "warning", rules::gpu_shared},
    Row{"gpu_memory_worn", "warning", rules::gpu_memory_worn},
    Row{"numa_mismatch", "warning", rules::numa_mismatch},
    Row{"cpu_quota_throttled", "warning", rules::cpu_quota_throttled},
    Row{"shared_memory_small", "warning", rules::shared_memory_small},
    Row{"peer_access_blocked", "warning", rules::peer_access_blocked},
    Row{"iommu_translates", "warning", rules::iommu_translates},
    Row{"few_steps", "warning", rules::few_steps},
    Row{"no_warmup", "warning", rules::no_warmup},
    Row{"first_step_slow", "warning", rules::first_step_slow},
    Row{"unstable_steps", "warning", rules::unstable_steps},
    Row{"phases_do_not_sum", "warning", rules::phases_do_not_sum},
    Row{"data_skipped", "warning", rules::data_skipped},
    Row{"no_graph", "warning", rules::no_graph},
    Row{"weights_missing", "warning", rules::weights_missing},
    Row{"unclean_exit", "warning", rules::unclean_exit},
    Row{"telemetry_missing", "info", rules::telemetry_missing},
    Row{"cpu_oversubscribed", "info", rules::cpu_oversubscribed},
    Row{"loss_scale_skips", "info", rules::loss_scale_skips},
    Row{"partial_batch_dropped", "info", rules::partial_batch_dropped},
    Row{"worker_note", "info", rules::worker_note},
};

}  // namespace

std::vector<Finding> make_findings(const Observation& observation) {
  std::vector<Finding> findings;
  for (const Row& row : kRows) {
    for (Note& note : row.rule(observation)) {
      findings.push_back({row.name, row.severity, std::move(note.message), std::move(note.evidence),
                          std::move(note.advice)});
    }
  }
  return findings;
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  names.reserve(kRows.size());
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace falcon::report
