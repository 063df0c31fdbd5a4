#include <filesystem>

#include "cli/data_set.h"
#include "cli/file_checks.h"
#include "cli/probe.h"
#include "cli/run.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "plan/make.h"
#include "plan/paths.h"
#include "plan/processes.h"
#include "plan/resume.h"
#include "platform/detect.h"
#include "platform/merge_probe.h"
#include "spec/hash.h"
#include "spec/system_file.h"

namespace falcon::cli {
namespace {

constexpr double kHostSeconds = 300;  // for another host to make ready

/// Placement and ranks of this host, and of the whole run as far as it is known.
struct Local {
  plan::PlacedProcesses placed;
  plan::ResolvedSpec resolved;
  SystemFile system;
  std::string folder;
  FilePlan files;
  DataFacts data;
};

void detect_host(Run& run, const launch::Crew* crew) {
  run.nvml = std::make_shared<const platform::Nvml>();
  platform::DetectOptions detection;
  detection.nvml = run.nvml;
  run.host = platform::detect(detection);
  if (crew != nullptr) run.host.hostname = crew->host_name();
}

std::vector<plan::ProcessView> processes_of(const Host& host, launch::Crew& crew) {
  std::vector<plan::ProcessView> views = {{crew.job().rank, host.gpus, host.cpu.allowed}};
  for (const launch::Joined& joined : crew.joined()) {
    views.push_back({joined.join.rank, joined.join.gpus, joined.join.cpus});
  }
  return views;
}

plan::PlacedProcesses place(Run& run, const SystemFile& system, launch::Crew* crew) {
  const RunSpec& given = run.loaded.spec;
  if (crew == nullptr) {
    const NameOrList topology = plan::resolved_topology(given, run.host);
    plan::PlacedProcesses placed;
    placed.placement = plan::place(topology, given.devices, run.host, system);
    placed.ranks = plan::bind_ranks(placed.placement, run.host, given.data.loader.threads);
    return placed;
  }
  if (given.devices && *given.devices != crew->job().world) {
    throw Error(ExitCode::kUsage, "devices is " + std::to_string(*given.devices) + ", but " +
                                      crew->job().started_by + " started " +
                                      std::to_string(crew->job().world) + " processes");
  }
  const std::vector<plan::ProcessView> processes = processes_of(run.host, *crew);
  plan::admit(run.host, processes);
  return plan::place_processes(plan::resolved_topology(given, run.host), processes, run.host,
                               system, given.data.loader.threads);
}

Local prepare_here(Run& run, Log& log, const Patience* patience, launch::Crew* crew) {
  Local local;
  const RunSpec& given = run.loaded.spec;
  if (!given.system.empty()) {
    local.system =
        spec::load_system_file((std::filesystem::path(run.loaded.folder) / given.system).string());
  }
  local.placed = place(run, local.system, crew);
  const int world =
      crew == nullptr ? static_cast<int>(local.placed.ranks.size()) : crew->job().world;
  local.resolved = plan::resolve(given, run.loaded.spec_origin, run.loaded.folder, world,
                                 local.placed.placement.on_gpu());
  const RunSpec& spec = local.resolved.spec;
  run.plan.spec = spec;
  local.folder = plan::data_folder(spec, local.system);
  if (patience != nullptr && spec.data.make) {
    if (crew != nullptr && !crew->job().is_on_one_host()) {
      throw Error(ExitCode::kUsage,
                  "data.make: hosts that share a folder would make it at once; make it before, "
                  "with falconbench data make");
    }
    log.info("data.make: " + local.folder);
    make_data(spec, local.folder, [&](std::int64_t, std::int64_t) { patience->check(); });
  }
  local.files = plan::file_plan(spec, local.system);
  check_readable(local.files);
  local.data = survey(spec, local.folder);
  return local;
}

launch::HostOffer offer_of(const Run& run, const Local& local) {
  launch::HostOffer offer;
  offer.host = run.host;
  offer.spec_hash = spec::spec_hash(local.resolved.spec);
  offer.samples = local.data.samples;
  offer.classes = local.data.classes;
  offer.validation = local.data.validation;
  offer.names = local.placed.placement.names;
  offer.ranks = local.placed.ranks;
  return offer;
}

// The ranks of all hosts. The head's names tell hosts with the same name apart.
plan::PlacedProcesses joined_by_all(const Run& run, const Local& local, launch::Crew& crew) {
  std::vector<plan::HostShare> shares = {
      {&run.host, local.placed.placement.names, local.placed.ranks}};
  for (const auto& host : crew.hosts()) {
    shares.push_back({&host->offer().host, host->offer().names, host->offer().ranks});
    for (RankPlan& rank : shares.back().ranks) rank.host = host->name();
  }
  return plan::joined(shares);
}

launch::Waiting waiting_of(const Patience& patience) {
  launch::Waiting waiting;
  waiting.wake_fd = patience.fd();
  waiting.check = [&patience] { patience.check(); };
  waiting.until_s = steady_now_s() + kHostSeconds;
  return waiting;
}

}  // namespace

void probe_host(Run& run, const Patience* patience) {
  if (run.is_probed) return;
  const ProbeFacts facts = probe(patience);
  platform::merge_probe(run.host, facts);
  check_libraries(facts);
  run.is_probed = true;
}

void prepare(Run& run, Log& log, const Patience* patience, launch::Crew* crew) {
  detect_host(run, crew);
  Local local = prepare_here(run, log, patience, crew);
  if (crew != nullptr && !crew->job().is_on_one_host()) {
    probe_host(run, patience);
    const launch::HostOffer offer = offer_of(run, local);
    if (!crew->is_head()) {
      const launch::HostPlan told = crew->offer(offer, waiting_of(*patience));
      run.plan = told.plan;
      run.plan.data.folder = local.data.folder;
      run.plan.files = local.files;
      run.meeting = crew->meeting_point(told);
      return;
    }
    crew->take_offers(offer, waiting_of(*patience));
    local.placed = joined_by_all(run, local, *crew);
  }
  run.plan = plan::make(local.resolved, local.placed.placement, local.placed.ranks, run.host,
                        local.data, run.id);
  run.plan.files = local.files;
  if (!local.files.resume.empty()) plan::resume_from(resume_facts(local.files), run.plan);
  if (patience != nullptr) check_writable(local.files);
}

}  // namespace falcon::cli
