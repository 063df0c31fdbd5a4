// The whole tool in one screen: spec -> host -> plan -> run -> report.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/data_set.h"
#include "cli/data_storage.h"
#include "cli/file_checks.h"
#include "cli/help.h"
#include "cli/logging.h"
#include "cli/patience.h"
#include "cli/plan_text.h"
#include "cli/probe.h"
#include "cli/progress.h"
#include "cli/run_arguments.h"
#include "cli/run_telemetry.h"
#include "falconbench/catalog.h"
#include "falconbench/clock.h"
#include "launch/launcher.h"
#include "plan/make.h"
#include "plan/nccl.h"
#include "plan/paths.h"
#include "plan/places.h"
#include "plan/resume.h"
#include "platform/detect.h"
#include "platform/machine/host_places.h"
#include "platform/merge_probe.h"
#include "report/make.h"
#include "report/report_file.h"
#include "report/summary.h"
#include "report/trace_file.h"
#include "spec/load.h"
#include "spec/system_file.h"

namespace falcon::cli {
namespace {

// What is known of a run so far; a failure on the way is reported with as much of it as there is.
struct Run {
  spec::LoadedSpec loaded;
  std::string id;
  double started_s = 0;
  std::string started_at;
  std::shared_ptr<const platform::Nvml> nvml;
  Host host;
  Plan plan;
  std::unique_ptr<Dataset> dataset;  // until the workers start
  DataStorage storage;
  RunLog log;
  Telemetry telemetry;
};

std::string output_path(const RunSpec& spec, const std::string& id) {
  return spec.output.empty() ? "reports/" + spec.name + "-" + id + ".json" : spec.output;
}

plan::ResolvedSpec resolve(const spec::LoadedSpec& loaded, const plan::Placement& placement) {
  return plan::resolve(loaded.spec, loaded.spec_origin, loaded.folder,
                       static_cast<int>(placement.devices.size()), placement.on_gpu());
}

SystemFile load_system(const spec::LoadedSpec& loaded) {
  if (loaded.spec.system.empty()) return {};
  return spec::load_system_file(
      (std::filesystem::path(loaded.folder) / loaded.spec.system).string());
}

// other_machine: what files say of it; "": this one.
Host look_at_host(const std::string& other_machine,
                  const std::shared_ptr<const platform::Nvml>& nvml) {
  if (!other_machine.empty()) {
    const platform::Dump dump = platform::read_dump(other_machine);
    return platform::host_of(platform::make_machine(dump), dump, other_machine);
  }
  platform::DetectOptions detection;
  detection.nvml = nvml;
  return platform::detect(detection);
}

// Of another machine only what needs no file is known.
Surveyed look_at_data(const RunSpec& resolved, const std::string& folder, bool is_here) {
  if (is_here || folder.empty()) return survey(resolved, folder);
  Surveyed surveyed;
  surveyed.facts.folder = folder;
  surveyed.facts.unknown = "planned for another machine";
  return surveyed;
}

void add_places(const plan::Placement& placement, const SystemFile& system, Run& run) {
  Plan& plan = run.plan;
  plan.places =
      plan::make_places(placement, run.host, system, plan::emulates(plan.spec), plan.spec.storage);
  plan.nccl = plan::plan_nccl(plan, placement, run.host, system);
  for (Finding& finding : plan::find_in_places(plan.places, run.host, system)) {
    plan.findings.push_back(std::move(finding));
  }
}

// Detection, placement, data, plan. patience: data.make is obeyed until it ends; nullptr (a dry
// run): no file is made.
void prepare(Run& run, Log& log, const Patience* patience, const std::string& other_machine) {
  run.nvml = std::make_shared<const platform::Nvml>();
  run.host = look_at_host(other_machine, run.nvml);
  const bool is_here = other_machine.empty();
  const RunSpec& given = run.loaded.spec;
  const SystemFile system = load_system(run.loaded);
  const plan::Placement placement =
      plan::place(plan::resolved_topology(given, run.host), given.devices, run.host, system);
  const plan::ResolvedSpec resolved = resolve(run.loaded, placement);
  run.plan.spec = resolved.spec;
  const std::string folder = plan::data_folder(resolved.spec, system, is_here);
  if (patience != nullptr && resolved.spec.data.make) {
    log.info("data.make: " + folder);
    make_data(resolved.spec, folder, [&](std::int64_t, std::int64_t) { patience->check(); });
  }
  const FilePlan files = plan::file_plan(resolved.spec, system, is_here);
  if (is_here) check_readable(files);
  Surveyed surveyed = look_at_data(resolved.spec, folder, is_here);
  run.dataset = std::move(surveyed.dataset);
  run.plan = plan::make(resolved, placement, run.host, surveyed.facts, run.id);
  run.plan.files = files;
  add_places(placement, system, run);
  if (is_here && !files.resume.empty()) plan::resume_from(resume_facts(files), run.plan);
  if (patience != nullptr) check_writable(files);
}

void execute(Run& run, Log& log, const RunArguments& arguments, launch::SignalWatch& signals,
             const Patience& patience) {
  const ProbeFacts facts = probe(&patience);
  platform::merge_probe(run.host, facts);
  check_libraries(facts);
  run.storage.prepare(run.plan, run.host, run.dataset.get(), patience);
  run.dataset.reset();
  RunTelemetry telemetry(run.plan, run.nvml);
  Progress progress({run.plan.warmup_steps, run.plan.measured_steps, run.plan.global_batch,
                     stderr_is_terminal(), arguments.quiet});
  log.set_progress(&progress);
  launch::LaunchOptions options;
  options.signals = &signals;
  options.started_s = run.started_s;
  options.on_started = [&](int rank, pid_t pid) { telemetry.worker_started(rank, pid); };
  options.on_measuring_began = [&](int, double time_s) { telemetry.measuring_began(time_s); };
  options.on_measuring_ended = [&](int, double time_s) { telemetry.measuring_ended(time_s); };
  options.on_log = [&](int rank, const std::string& line) { log.worker(rank, line); };
  options.on_phase = [&](int rank, const launch::Progress& at) {
    if (rank == 0) progress.phase(at.phase, at.time_s);
  };
  options.on_progress = [&](int rank, const launch::Progress& at) {
    if (rank == 0) progress.step(at.step, at.time_s);
  };
  run.log = launch::run(run.plan, options);
  log.set_progress(nullptr);
  run.telemetry = telemetry.finish();
  if (run.log.exit_code == static_cast<int>(ExitCode::kUsage)) {
    throw Error(ExitCode::kUsage, run.log.failure->message);
  }
}

// A run that could not be started, as a result.
void fail(Run& run, ExitCode code, const std::string& message) {
  run.log = RunLog{};
  const bool is_interrupt = code == ExitCode::kInterrupted || code == ExitCode::kTerminated;
  run.log.status = is_interrupt ? "interrupted" : "failed";
  run.log.exit_code = static_cast<int>(code);
  run.log.failure = RunFailure{};
  run.log.failure->kind = is_interrupt              ? "interrupted"
                          : code == ExitCode::kHost ? "host"
                          : code == ExitCode::kHang ? "deadline"
                                                    : "exception";
  run.log.failure->message = message;
  run.log.failure->host = run.host.hostname;
  run.log.failure->phase = "start";
  run.log.started_at = run.started_at;
  run.log.ended_at = wall_now_text();
  run.log.started_s = run.started_s;
  run.log.ended_s = steady_now_s();
  if (run.plan.run_id.empty()) {  // not planned: what was asked for stands in the report
    run.plan.run_id = run.id;
    if (run.plan.spec.model.empty()) run.plan.spec = run.loaded.spec;
    run.plan.spec_origin = run.loaded.spec_origin;
  }
}

Report make_report(Run& run, const std::string& program, const Words& words,
                   const std::string& report_path) {
  report::Circumstances circumstances;
  circumstances.command_line = {program};
  circumstances.command_line.insert(circumstances.command_line.end(), words.begin(), words.end());
  circumstances.storage = run.storage.finish(run.plan);
  circumstances.trace_file = report::write_trace(report_path, run.plan, run.log);
  circumstances.model = catalog::find_model(run.plan.spec.model);
  circumstances.precision = catalog::find_precision(run.plan.spec.precision.value_or(""));
  return report::make(run.plan, run.host, run.log, run.telemetry, circumstances);
}

ExitCode dry_run(Run& run, Log& log, const RunArguments& arguments) {
  prepare(run, log, nullptr, arguments.host);
  std::fputs((arguments.json ? plan_json(run.plan) : plan_text(run.plan)).c_str(), stdout);
  return ExitCode::kOk;
}

}  // namespace

ExitCode run_command(const std::string& program, const Words& words) {
  const RunArguments arguments = parse_run_arguments(words);
  if (arguments.help) {
    std::fputs(kMainHelp, stdout);
    return ExitCode::kOk;
  }
  Log log(arguments.quiet, arguments.verbose);
  Run run;
  run.started_s = steady_now_s();
  run.started_at = wall_now_text();
  run.loaded = spec::load(arguments.config, arguments.settings);
  run.id = plan::new_run_id();
  if (arguments.dry_run) return dry_run(run, log, arguments);
  const report::ReportFile file(output_path(run.loaded.spec, run.id));
  // until the report is written: an impatient Ctrl-C must not lose it
  launch::SignalWatch signals;
  const Patience patience(signals, run.started_s, run.loaded.spec.timeout_s);
  try {
    prepare(run, log, &patience, "");
    execute(run, log, arguments, signals, patience);
  } catch (const Error& error) {
    if (error.code() == ExitCode::kUsage) throw;
    fail(run, error.code(), error.what());
  } catch (const std::exception& error) {
    fail(run, ExitCode::kInternal, error.what());
  }
  const Report report = make_report(run, program, words, file.path());
  file.write(report);
  const std::string text =
      arguments.json ? report::to_text(report)
                     : report::summary(report, file.path(), colours_wanted(STDOUT_FILENO));
  if (!arguments.quiet || arguments.json) std::fputs(text.c_str(), stdout);
  if (run.log.failure) std::fprintf(stderr, "falconbench: %s\n", run.log.failure->message.c_str());
  return report::exit_code(report);
}

}  // namespace falcon::cli
