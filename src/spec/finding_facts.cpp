#include <vector>

#include "falconbench/catalog.h"

namespace falcon::catalog {
namespace {

std::vector<WordFacts> of_the_run() {
  return {
      {"data_skipped", "some files of the data set could not be used and were left out", {}},
      {"loader_bound",
       "the training waited for data: the loader, not the device, set the pace",
       {}},
      {"few_steps", "too few measured steps for trustworthy statistics", {}},
      {"no_graph", "the step was not captured as a CUDA graph, but enqueued kernel by kernel", {}},
      {"no_warmup", "no warm-up: first-use costs are inside the measured steps", {}},
      {"loss_not_finite", "the training loss became infinite or not a number", {}},
      {"loss_scale_skips", "the loss scaling left out measured optimizer steps", {}},
      {"telemetry_missing", "a source of telemetry could not be read", {}},
      {"first_step_slow", "the first measured step was far slower than the others", {}},
      {"unstable_steps", "step times drifted or varied widely during the measurement", {}},
      {"stragglers", "one rank was slower than the others", {}},
      {"exchange_off", "engine.allreduce was off: every rank trained a model of its own", {}},
      {"unclean_exit", "a worker did not end by itself and had to be stopped", {}},
      {"parameters_differ", "the ranks ended with different parameters", {}},
      {"step_clock_differs", "the step times do not sum to the measured window", {}},
      {"phases_do_not_sum", "the phases of a step do not sum to the step", {}},
      {"partial_batch_dropped", "the last, partial batch of each pass was left out", {}},
      {"weights_missing", "the weight file lacks tensors of the model", {}},
      {"worker_note", "a remark of a worker", {}},
      {"link_contents_wrong", "a copy or collective delivered something else than was sent", {}},
      {"link_not_measured", "a copy or collective failed, or did not end", {}},
      {"peer_access_ineffective", "peer access that is no faster than staging in host memory", {}},
      {"link_below_expected", "a link is slower than the system file expects", {}},
      {"link_below_practical", "a link is slower than links of its kind are seen at", {}},
  };
}

std::vector<WordFacts> of_the_machine() {
  return {
      {"hosts_differ",
       "the hosts of a run on several have different devices, links or storage",
       {}},
      {"gpu_in_use", "another process held a GPU of the run before it started", {}},
      {"quota_limits_cpus", "a container quota allows fewer CPUs than the affinity mask shows", {}},
      {"memory_may_not_fit", "the memory estimate is larger than the device's memory", {}},
      {"cpu_oversubscribed", "more threads than usable CPUs", {}},
      {"gpu_throttled", "a GPU lowered its clocks for power or heat", {}},
      {"pcie_link_degraded", "a PCIe link ran below what GPU and slot can do", {}},
      {"gpu_clocks_low", "a GPU worked at low clocks, and not because of power or heat", {}},
      {"gpu_shared", "another process used a GPU of the run while it was measured", {}},
      {"gpu_memory_faulty", "the memory of a GPU lost data, or could not be repaired", {}},
      {"gpu_memory_worn", "the memory of a GPU had errors or waits for a reset to be repaired", {}},
      {"numa_mismatch", "a worker ran on CPUs far from its GPU", {}},
      {"cpu_quota_throttled", "a container quota held threads back while measuring", {}},
      {"shared_memory_small", "/dev/shm is smaller than NCCL may need", {}},
      {"iommu_translates", "an IOMMU translates the traffic of a GPU", {}},
      {"io_not_as_asked", "files were not read as data.loader.io asks", {}},
      {"cache_not_as_asked", "the page cache was not as data.cache asks", {}},
      {"page_cache_warm",
       "the measured steps read from memory, though storage was to be measured",
       {}},
      {"library_mismatch", "a loaded library is not the one built for", {}},
      {"topology_mismatched",
       "devices or storage of the run are not what was asked for, or not where it is declared",
       {}},
      {"topology_unknown", "it is not proved that the devices are those asked for", {}},
      {"emulation_failed", "the emulated link of a chassis was not, or not provably, imposed", {}},
      {"nccl_fallback", "NCCL went through shared memory or the network within one host", {}},
      {"drawer_incomplete", "a drawer of a chassis has fewer GPUs than declared", {}},
      {"host_link_degraded", "a link between host and switch runs below what both ends can do", {}},
      {"uplink_shared", "several devices of the run share one link to the host", {}},
      {"sources_disagree", "files about one machine say different things", {}},
      {"gpu_power_capped", "a GPU is limited below its default power", {}},
      {"acs_redirects", "access control sends traffic between GPUs up to the root complex", {}},
      {"peer_access_blocked", "some GPUs may not reach each other directly", {}},
      {"mig_enabled", "a GPU is split into MIG instances", {}},
      {"gpu_without_driver", "GPUs are plugged in that no driver serves", {}},
  };
}

}  // namespace

std::span<const WordFacts> findings() {
  static const std::vector<WordFacts> table = [] {
    std::vector<WordFacts> all = of_the_run();
    const std::vector<WordFacts> more = of_the_machine();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return table;
}

}  // namespace falcon::catalog
