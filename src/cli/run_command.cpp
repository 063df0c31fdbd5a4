// The whole tool in one screen: spec -> host -> plan -> run -> report.
#include <cstdio>
#include <optional>

#include <unistd.h>

#include "cli/agent_store.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/patience.h"
#include "cli/plan_text.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/run_arguments.h"
#include "cli/run_telemetry.h"
#include "falconbench/catalog.h"
#include "falconbench/clock.h"
#include "launch/launcher.h"
#include "plan/make.h"
#include "platform/environment.h"
#include "report/make.h"
#include "report/report_file.h"
#include "report/summary.h"
#include "report/trace_file.h"
#include "spec/load.h"

namespace falcon::cli {
namespace {

constexpr double kGatherSeconds = 300;  // for the other processes and hosts of the run to come
constexpr double kSightSeconds = 15;    // for what another host saw

std::string output_path(const RunSpec& spec, const std::string& id) {
  return spec.output.empty() ? "reports/" + spec.name + "-" + id + ".json" : spec.output;
}

std::vector<int> ranks_here(const Plan& plan, const launch::Crew* crew) {
  if (crew != nullptr) return crew->ranks();
  std::vector<int> ranks;
  for (const RankPlan& rank : plan.ranks) ranks.push_back(rank.rank);
  return ranks;
}

launch::LaunchOptions options_of(const Run& run, RunTelemetry& telemetry,
                                 launch::SignalWatch& signals, launch::Crew* crew) {
  launch::LaunchOptions options;
  options.signals = &signals;
  options.started_s = run.started_s;
  options.crew = crew;
  options.on_started = [&](int rank, pid_t pid) { telemetry.worker_started(rank, pid); };
  options.on_measuring_began = [&](int rank, double time_s) {
    telemetry.measuring_began(rank, time_s);
  };
  options.on_measuring_ended = [&](int rank, double time_s) {
    telemetry.measuring_ended(rank, time_s);
  };
  return options;
}

// What the launchers of the other hosts saw, on the clock of this one.
void collect_others(Run& run, launch::Crew& crew) {
  for (const auto& host : crew.hosts()) {
    launch::Waiting waiting;
    waiting.until_s = steady_now_s() + kSightSeconds;
    report::OtherHost other{host->offer().host, host->wait_for_sight(waiting)};
    other.host.hostname = host->name();
    if (other.sight.has_value()) {
      Telemetry& telemetry = other.sight.value->telemetry;
      telemetry.began_s = host->here_s(telemetry.began_s);
    }
    run.others.push_back(std::move(other));
  }
}

void execute(Run& run, Log& log, const RunArguments& arguments, launch::SignalWatch& signals,
             const Patience& patience, launch::Crew* crew) {
  probe_host(run, &patience);
  prepare_storage(run, patience);
  RunTelemetry telemetry(run.plan, ranks_here(run.plan, crew), run.nvml);
  Progress progress({run.plan.warmup_steps, run.plan.measured_steps, run.plan.global_batch,
                     stderr_is_terminal(), arguments.quiet});
  log.set_progress(&progress);
  launch::LaunchOptions options = options_of(run, telemetry, signals, crew);
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
  if (crew != nullptr) collect_others(run, *crew);
  if (run.log.exit_code == static_cast<int>(ExitCode::kUsage)) {
    throw Error(ExitCode::kUsage, run.log.failure->message);
  }
}

// A run that could not be started, as a result.
void fail(Run& run, ExitCode code, const std::string& message, const std::string& host = "") {
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
  run.log.failure->host = host.empty() ? host_name() : host;
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
  circumstances.others = run.others;
  return report::make(run.plan, run.host, run.log, run.telemetry, circumstances);
}

ExitCode dry_run(Run& run, Log& log, const RunArguments& arguments) {
  prepare(run, log, nullptr, nullptr, arguments.host);
  std::fputs((arguments.json ? plan_json(run.plan) : plan_text(run.plan)).c_str(), stdout);
  return ExitCode::kOk;
}

// The part of a host that is not the first of the run.
ExitCode serve(Run& run, Log& log, launch::SignalWatch& signals, const Patience& patience,
               launch::Crew& crew) {
  prepare(run, log, &patience, &crew);
  RunTelemetry telemetry(run.plan, crew.ranks(), run.nvml);
  const launch::LaunchOptions options = options_of(run, telemetry, signals, &crew);
  std::string message;
  const auto sight = [&] { return HostSight{telemetry.finish(), run.storage.finish(run.plan)}; };
  const ExitCode code = launch::serve(run.plan, options, std::move(run.meeting), sight, message);
  if (!message.empty()) std::fprintf(stderr, "falconbench: %s\n", message.c_str());
  return code;
}

void gather(const Run& run, const Patience& patience, launch::Crew& crew) {
  launch::Waiting waiting;
  waiting.wake_fd = patience.fd();
  waiting.check = [&patience] { patience.check(); };
  waiting.until_s = run.started_s + kGatherSeconds;
  crew.gather(waiting, agent_store_of(crew.job(), patience));
}

// Other hosts know it as long as something is waited for.
Patience patience_of(const Run& run, launch::SignalWatch& signals, launch::Crew* crew) {
  std::function<void()> at_check;
  if (crew != nullptr) at_check = [crew] { crew->say_alive(); };
  return Patience(signals, run.started_s, run.loaded.spec.timeout_s, std::move(at_check));
}

// A failed run is a result; a fault of the spec is not.
void carry_out(Run& run, Log& log, const RunArguments& arguments, launch::SignalWatch& signals,
               launch::Crew* crew) {
  const Patience patience = patience_of(run, signals, crew);
  try {
    if (crew != nullptr) gather(run, patience, *crew);
    prepare(run, log, &patience, crew);
    execute(run, log, arguments, signals, patience, crew);
    return;
  } catch (const launch::HostError& error) {
    if (error.code() == ExitCode::kUsage) throw;
    fail(run, error.code(), error.what(), error.host());
  } catch (const Error& error) {
    if (error.code() == ExitCode::kUsage) throw;
    fail(run, error.code(), error.what());
  } catch (const std::exception& error) {
    fail(run, ExitCode::kInternal, error.what());
  }
  if (crew == nullptr) return;
  run.log.hosts = crew->facts();
  crew->refuse(static_cast<ExitCode>(run.log.exit_code), run.log.failure->message);
}

ExitCode launch_run(const std::string& program, const Words& words, const RunArguments& arguments,
                    launch::Crew* crew) {
  Log log(arguments.quiet, arguments.verbose);
  Run run;
  run.started_s = steady_now_s();
  run.started_at = wall_now_text();
  run.loaded = spec::load(arguments.config, arguments.settings);
  run.id = plan::new_run_id();
  if (arguments.dry_run) return dry_run(run, log, arguments);
  // until the report is written: an impatient Ctrl-C must not lose it
  launch::SignalWatch signals;
  if (crew != nullptr && !crew->is_head()) {
    const Patience patience = patience_of(run, signals, crew);
    gather(run, patience, *crew);
    return serve(run, log, signals, patience, *crew);
  }
  const report::ReportFile file(output_path(run.loaded.spec, run.id));
  carry_out(run, log, arguments, signals, crew);
  const Report report = make_report(run, program, words, file.path());
  file.write(report);
  const std::string failure = run.log.failure ? run.log.failure->message : "";
  if (crew != nullptr) crew->dismiss(report::exit_code(report), failure);
  const std::string text =
      arguments.json ? report::to_text(report)
                     : report::summary(report, file.path(), colours_wanted(STDOUT_FILENO));
  if (!arguments.quiet || arguments.json) std::fputs(text.c_str(), stdout);
  if (run.log.failure) std::fprintf(stderr, "falconbench: %s\n", failure.c_str());
  return report::exit_code(report);
}

}  // namespace

ExitCode run_command(const std::string& program, const Words& words) {
  const RunArguments arguments = parse_run_arguments(words);
  if (arguments.help) {
    std::fputs(kMainHelp, stdout);
    return ExitCode::kOk;
  }
  const std::optional<launch::Job> job = launch::read_job(platform::process_environment());
  if (!job || arguments.dry_run) {  // of several dry runs, one speaks
    return job && job->rank != 0 ? ExitCode::kOk : launch_run(program, words, arguments, nullptr);
  }
  if (job->local_rank != 0) join_run(*job, program);
  launch::Crew crew(*job, host_name());
  try {
    return launch_run(program, words, arguments, &crew);
  } catch (const Error& error) {
    crew.refuse(error.code(), error.what());
    throw;
  }
}

}  // namespace falcon::cli
