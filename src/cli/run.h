// What is known of a run so far, and the steps that find it out.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/data_storage.h"
#include "cli/logging.h"
#include "cli/patience.h"
#include "falconbench/dataset.h"
#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "falconbench/run_log.h"
#include "falconbench/telemetry.h"
#include "launch/crew.h"
#include "platform/nvml.h"
#include "report/make.h"
#include "spec/load.h"

namespace falcon::cli {

/// A failure on the way is reported with as much of it as there is.
struct Run {
  spec::LoadedSpec loaded;
  std::string id;
  double started_s = 0;
  std::string started_at;
  std::shared_ptr<const platform::Nvml> nvml;
  Host host;
  bool is_probed = false;
  Plan plan;
  std::unique_ptr<Dataset> dataset;  // until the workers start
  DataStorage storage;
  launch::MeetingPoint meeting;  // on a host that is not the head
  RunLog log;
  Telemetry telemetry;
  std::vector<report::OtherHost> others;
};

/// Detection, placement, data, plan. patience: data.make is obeyed until it ends; nullptr (a dry
/// run): no file is made. crew: of a run that was started as several processes, gathered; the plan
/// is then that of all hosts, and on one that is not the first the storage is prepared.
/// other_machine: what files say of it, planned for in a dry run; "": this one. Throws what stands
/// in the way.
void prepare(Run& run, Log& log, const Patience* patience, launch::Crew* crew,
             const std::string& other_machine = "");

/// The page cache as data.cache asks, and the probe of the storage, once the data set has been
/// looked at; the workers open their own.
void prepare_storage(Run& run, const Patience& patience);

/// CUDA and the loaded libraries, once.
void probe_host(Run& run, const Patience* patience);

/// The name of this host: FALCONBENCH_HOSTNAME where several have the same, else its own.
std::string host_name();

/// In a process that is not the first of its host: becomes a worker of the one that is. Throws what
/// stands in the way; does not return otherwise.
[[noreturn]] void join_run(const launch::Job& job, const std::string& program);

}  // namespace falcon::cli
