#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "cli/data_set.h"
#include "cli/file_checks.h"
#include "cli/probe.h"
#include "cli/run.h"
#include "falconbench/catalog.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "plan/chassis.h"
#include "plan/host_places.h"
#include "plan/make.h"
#include "plan/nccl.h"
#include "plan/paths.h"
#include "plan/places.h"
#include "plan/processes.h"
#include "plan/resume.h"
#include "platform/detect.h"
#include "platform/dump/dump.h"
#include "platform/machine/host_places.h"
#include "platform/machine/machine.h"
#include "platform/merge_probe.h"
#include "platform/visible_devices.h"
#include "spec/hash.h"
#include "spec/system_file.h"

namespace falcon::cli {
namespace {

constexpr double kHostSeconds = 300;  // of silence, while another host makes ready

/// What is known of this host's part; placement and ranks become those of the whole run.
struct Local {
  plan::PlacedProcesses placed;
  Places places;
  std::vector<Finding> findings;  // in them
  plan::ResolvedSpec resolved;
  SystemFile system;
  std::string folder;
  FilePlan files;
  std::string made;  // content hash of the set of data.make
  Surveyed data;
  std::map<std::string, SystemChassis> chassis;
};

// other_machine: what files say of it; "": this one.
void look_at_host(Run& run, const launch::Crew* crew, const std::string& other_machine) {
  run.nvml = std::make_shared<const platform::Nvml>();
  if (!other_machine.empty()) {
    const platform::Dump dump = platform::read_dump(other_machine);
    run.host = platform::host_of(platform::make_machine(dump), dump, other_machine);
    return;
  }
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
  const StrategyFacts* strategy = catalog::find_parallelism(given.parallelism.kind);
  if (strategy != nullptr && strategy->is_one_rank && crew->job().world > 1) {
    throw Error(ExitCode::kUsage,
                "parallelism " + strategy->name + " is one process with all its GPUs, but " +
                    crew->job().started_by + " started " + std::to_string(crew->job().world));
  }
  const std::vector<plan::ProcessView> processes = processes_of(run.host, *crew);
  plan::admit(run.host, processes);
  return plan::place_processes(plan::resolved_topology(given, run.host), processes, run.host,
                               system, given.data.loader.threads);
}

// Of another machine only what needs no file is known.
Surveyed look_at_data(const RunSpec& resolved, const std::string& folder, bool is_here) {
  if (is_here || folder.empty()) return survey(resolved, folder);
  Surveyed surveyed;
  surveyed.facts.folder = folder;
  surveyed.facts.unknown = "planned for another machine";
  return surveyed;
}

// data.make. Gives the content hash of what is there then.
std::string make_set(const RunSpec& spec, const std::string& folder, Log& log,
                     const Patience& patience) {
  log.info("data.make: " + folder);
  bool is_waiting = false;
  const auto progress = [&](std::int64_t, std::int64_t total) {
    if (total == 0 && !std::exchange(is_waiting, true)) {
      log.info("data.make: another process or host makes this folder; waiting for it");
    }
    patience.check();
  };
  return make_data(spec, folder, progress).content_hash;
}

// is_here: planned for this machine.
Local prepare_here(Run& run, Log& log, const Patience* patience, launch::Crew* crew, bool is_here) {
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
  local.chassis = plan::managed_chassis(local.placed.placement, local.system, spec.storage);
  local.folder = plan::data_folder(spec, local.system, is_here);
  if (patience != nullptr && spec.data.make)
    local.made = make_set(spec, local.folder, log, *patience);
  local.files = plan::file_plan(spec, local.system, is_here);
  if (is_here) check_readable(local.files);
  local.data = look_at_data(spec, local.folder, is_here);
  local.places = plan::make_places(local.placed.placement, run.host, local.system,
                                   plan::emulates(spec), spec.storage);
  local.findings = plan::find_in_places(local.places, run.host, local.system);
  return local;
}

launch::HostOffer offer_of(const Run& run, const Local& local) {
  launch::HostOffer offer;
  offer.host = run.host;
  offer.spec_hash = spec::spec_hash(local.resolved.spec);
  offer.samples = local.data.facts.samples;
  offer.classes = local.data.facts.classes;
  offer.validation = local.data.facts.validation;
  offer.names = local.placed.placement.names;
  offer.ranks = local.placed.ranks;
  offer.made = local.made;
  offer.places = local.places;
  offer.findings = local.findings;
  return offer;
}

// The parts of all hosts, this one first. The head's names tell hosts with the same name apart.
std::vector<plan::HostShare> shares_of(const Run& run, const Local& local,
                                       const launch::Crew& crew) {
  std::vector<plan::HostShare> shares = {{&run.host, local.placed.placement.names,
                                          local.placed.ranks, run.host.hostname, &local.places}};
  for (const auto& host : crew.hosts()) {
    const launch::HostOffer& offer = host->offer();
    shares.push_back({&offer.host, offer.names, offer.ranks, host->name(), &offer.places});
    for (RankPlan& rank : shares.back().ranks) rank.host = host->name();
  }
  return shares;
}

// The run of all hosts in place of this one's part.
void join_hosts(const Run& run, const launch::Crew& crew, Local& local) {
  const std::vector<plan::HostShare> shares = shares_of(run, local, crew);
  for (const auto& host : crew.hosts()) {
    for (Finding finding : host->offer().findings) {
      finding.message = "host " + host->name() + ": " + finding.message;
      local.findings.push_back(std::move(finding));
    }
  }
  for (Finding& finding : plan::compare_hosts(shares)) {
    local.findings.push_back(std::move(finding));
  }
  local.placed = plan::joined(shares);
  local.places = plan::joined_places(shares);
}

// What stands where, and what NCCL is told of it.
void add_places(Run& run, Local& local, bool is_on_one_host) {
  Plan& plan = run.plan;
  if (!is_on_one_host && plan::emulates(plan.spec)) {
    throw Error(ExitCode::kUsage, "emulate: a chassis is emulated on one host, not on several");
  }
  plan.places = std::move(local.places);
  plan.chassis = std::move(local.chassis);
  plan.findings.insert(plan.findings.end(), local.findings.begin(), local.findings.end());
  plan.nccl = plan::plan_nccl(plan, local.placed.placement, run.host, local.system);
}

launch::Waiting waiting_of(const Patience& patience) {
  launch::Waiting waiting;
  waiting.wake_fd = patience.fd();
  waiting.check = [&patience] { patience.check(); };
  waiting.until_s = steady_now_s() + kHostSeconds;
  return waiting;
}

// On a host that is not the first: its part of the plan that the first makes of all. The storage is
// prepared before, for the first host waits longer for an offer than for a sign of life.
void follow(Run& run, const Local& local, const Patience& patience, launch::Crew& crew) {
  run.plan.data = local.data.facts;
  run.plan.ranks = local.placed.ranks;
  prepare_storage(run, patience);
  launch::HostPlan told = crew.offer(offer_of(run, local), waiting_of(patience));
  run.plan = std::move(told.plan);
  run.plan.data.folder = local.data.facts.folder;
  run.plan.files = local.files;
  run.plan.chassis = local.chassis;
  run.meeting = crew.meeting_point(told);
}

}  // namespace

void prepare_storage(Run& run, const Patience& patience) {
  run.storage.prepare(run.plan, run.host, run.dataset.get(), patience);
  run.dataset.reset();
}

void probe_host(Run& run, const Patience* patience) {
  if (run.is_probed) return;
  const ProbeFacts facts = probe(patience);
  platform::merge_probe(run.host, facts);
  check_libraries(facts);
  run.is_probed = true;
}

void prepare(Run& run, Log& log, const Patience* patience, launch::Crew* crew,
             const std::string& other_machine) {
  const bool is_here = other_machine.empty();
  look_at_host(run, crew, other_machine);
  if (is_here && platform::needs_cuda(run.host))
    probe_host(run, patience);  // before GPUs are chosen
  Local local = prepare_here(run, log, patience, crew, is_here);
  run.dataset = std::move(local.data.dataset);
  const bool is_on_one_host = crew == nullptr || crew->job().is_on_one_host();
  if (!is_on_one_host) {
    probe_host(run, patience);
    if (!crew->is_head()) return follow(run, local, *patience, *crew);
    crew->take_offers(offer_of(run, local), waiting_of(*patience));
    join_hosts(run, *crew, local);
  }
  run.plan = plan::make(local.resolved, local.placed.placement, local.placed.ranks, run.host,
                        local.data.facts, run.id);
  run.plan.files = local.files;
  add_places(run, local, is_on_one_host);
  if (is_here && !local.files.resume.empty()) {
    plan::resume_from(resume_facts(local.files), run.plan);
  }
  if (patience != nullptr) check_writable(local.files);
}

}  // namespace falcon::cli
