#include <vector>

#include "falconbench/catalog.h"

namespace falcon::catalog {

std::span<const WordFacts> findings() {
  static const std::vector<WordFacts> table = {
      {"gpu_in_use", "another process held a GPU of the run before it started", {}},
      {"data_skipped", "some files of the data set could not be used and were left out", {}},
      {"loader_bound",
       "the training waited for data: the loader, not the device, set the pace",
       {}},
      {"quota_limits_cpus", "a container quota allows fewer CPUs than the affinity mask shows", {}},
      {"few_steps", "too few measured steps for trustworthy statistics", {}},
      {"no_graph", "the step was not captured as a CUDA graph, but enqueued kernel by kernel", {}},
      {"no_warmup", "no warm-up: first-use costs are inside the measured steps", {}},
      {"loss_not_finite", "the training loss became infinite or not a number", {}},
      {"loss_scale_skips", "the loss scaling left out measured optimizer steps", {}},
      {"telemetry_missing", "a source of telemetry could not be read", {}},
      {"first_step_slow", "the first measured step was far slower than the others", {}},
      {"unstable_steps", "step times drifted or varied widely during the measurement", {}},
      {"stragglers", "one rank was slower than the others", {}},
      {"memory_may_not_fit", "the memory estimate is larger than the device's memory", {}},
      {"cpu_oversubscribed", "more threads than usable CPUs", {}},
      {"gpu_throttled", "a GPU lowered its clocks for power or heat", {}},
      {"pcie_link_degraded", "a PCIe link ran below what GPU and slot can do", {}},
      {"library_mismatch", "a loaded library is not the one built for", {}},
      {"exchange_off", "engine.allreduce was off: every rank trained a model of its own", {}},
      {"unclean_exit", "a worker did not end by itself and had to be stopped", {}},
      {"topology_mismatched", "the run did not use the devices that were asked for", {}},
      {"topology_unknown", "it is not proved that the devices are those asked for", {}},
      {"parameters_differ", "the ranks ended with different parameters", {}},
      {"step_clock_differs", "the step times do not sum to the measured window", {}},
      {"phases_do_not_sum", "the phases of a step do not sum to the step", {}},
      {"partial_batch_dropped", "the last, partial batch of each pass was left out", {}},
      {"weights_missing", "the weight file lacks tensors of the model", {}},
      {"worker_note", "a remark of a worker", {}},
      {"sources_disagree", "files about one machine say different things", {}},
      {"gpu_power_capped", "a GPU is limited below its default power", {}},
      {"acs_redirects", "access control sends traffic between GPUs up to the root complex", {}},
      {"peer_access_blocked", "some GPUs may not reach each other directly", {}},
      {"mig_enabled", "a GPU is split into MIG instances", {}},
      {"link_contents_wrong", "a copy or collective delivered something else than was sent", {}},
      {"link_not_measured", "a copy or collective failed, or did not end", {}},
      {"peer_access_ineffective", "peer access that is no faster than staging in host memory", {}},
      {"link_below_expected", "a link is slower than the system file expects", {}},
      {"link_below_practical", "a link is slower than links of its kind are seen at", {}},
      {"uplink_shared", "GPUs have less to share than each has alone", {}},
      {"gpu_without_driver", "GPUs are plugged in that no driver serves", {}},
  };
  return table;
}

}  // namespace falcon::catalog
