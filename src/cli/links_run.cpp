#include "cli/links_run.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "launch/launcher.h"
#include "plan/link_work.h"

namespace falcon::cli {
namespace {

// Longer than the largest copy takes on the slowest link, trial and checks included.
constexpr double kSizeLimitSeconds = 30;
// A machine where more pairs hang than this is not measured any further.
constexpr int kMostHangs = 3;

class Runner {
 public:
  Runner(const plan::Placement& placement, const LinksRunOptions& options, Log& log,
         launch::SignalWatch& signals, report::LinksInput& input)
      : placement_(placement), options_(options), log_(log), signals_(signals), input_(input) {}

  ExitCode run() {
    measure_copies();
    if (may_go_on()) measure_collectives();
    return code_;
  }

 private:
  RunLog launch(Plan plan, const LinkWork& work);
  void measure_copies();
  void keep(const std::vector<std::size_t>& pending, LinkRecords records);
  void give_up(const std::vector<std::size_t>& tasks, const std::string& why);
  void judge_copies();
  void measure_collectives();
  void measure_collectives(bool peer_to_peer);
  void fail(const RunFailure& failure, ExitCode code);
  bool may_go_on() const {
    return code_ != ExitCode::kInterrupted && code_ != ExitCode::kTerminated && !is_out_of_time_;
  }

  const plan::Placement& placement_;
  const LinksRunOptions& options_;
  Log& log_;
  launch::SignalWatch& signals_;
  report::LinksInput& input_;
  ExitCode code_ = ExitCode::kOk;
  bool is_out_of_time_ = false;
};

/// The first failure is the one that is reported.
void Runner::fail(const RunFailure& failure, ExitCode code) {
  log_.warn(failure.message);
  is_out_of_time_ = is_out_of_time_ || failure.kind == "deadline";
  if (code_ != ExitCode::kOk) return;
  code_ = code;
  input_.failure = failure;
}

RunLog Runner::launch(Plan plan, const LinkWork& work) {
  plan.spec.timeout_s = options_.timeout_s;
  launch::LaunchOptions options;
  options.signals = &signals_;
  options.started_s = options_.started_s;
  options.links = work;
  options.limits.progress_min_s = kSizeLimitSeconds;
  options.on_phase = [this](int rank, const launch::Progress& at) {
    log_.debug("rank " + std::to_string(rank) + ": " + at.phase);
  };
  options.on_log = [this](int rank, const std::string& line) { log_.worker(rank, line); };
  return launch::run(plan, options);
}

void Runner::measure_copies() {
  input_.copy_work = plan::copy_work(placement_, input_.host, input_.places.uplinks);
  input_.copies.copies.resize(input_.copy_work.copies.size());
  std::vector<std::size_t> pending(input_.copy_work.copies.size());
  std::iota(pending.begin(), pending.end(), std::size_t{0});
  for (int hangs = 0; !pending.empty(); ++hangs) {
    LinkWork work = input_.copy_work;
    work.copies.clear();
    for (const std::size_t task : pending) work.copies.push_back(input_.copy_work.copies[task]);
    log_.info("measuring " + std::to_string(work.copies.size()) + " kinds of copies");
    RunLog log = launch(plan::copy_plan(placement_, input_.host), work);
    if (!log.failure) {
      keep(pending, std::move(*log.records.at(0)->links));
      return judge_copies();
    }
    const std::size_t at = plan::task_at(work.copies, log.failure->last_step);
    const bool is_hung =
        log.failure->kind == "hang" && log.failure->phase == "measure" && at < pending.size();
    if (!is_hung || hangs == kMostHangs) {
      give_up(pending, "not measured: " + log.failure->message);
      return fail(*log.failure, static_cast<ExitCode>(log.exit_code));
    }
    const std::size_t hung = pending[at];
    log.failure->message =
        plan::text_of(work.copies[at], placement_.names) + " did not end: " + log.failure->message;
    fail(*log.failure, ExitCode::kHang);
    // all ways of copying between the same devices go with the one that hung
    const auto lost =
        std::stable_partition(pending.begin(), pending.end(), [this, hung](std::size_t task) {
          return !plan::is_same_link(input_.copy_work.copies[task], input_.copy_work.copies[hung]);
        });
    give_up({lost, pending.end()}, log.failure->message);
    pending.erase(lost, pending.end());
  }
}

void Runner::give_up(const std::vector<std::size_t>& tasks, const std::string& why) {
  for (const std::size_t task : tasks) input_.copies.copies[task].error = why;
}

void Runner::keep(const std::vector<std::size_t>& pending, LinkRecords records) {
  for (std::size_t i = 0; i < pending.size(); ++i) {
    input_.copies.copies[pending[i]] = std::move(records.copies.at(i));
  }
  input_.copies.peers = std::move(records.peers);
  input_.copies.memory = std::move(records.memory);
}

/// A copy that failed makes the command fail; one between GPUs without peer access does not.
void Runner::judge_copies() {
  for (std::size_t i = 0; i < input_.copies.copies.size(); ++i) {
    const CopyTask& task = input_.copy_work.copies[i];
    const LinkFlow& flow = task.flows.front();
    const auto& peers = input_.copies.peers;
    const bool has_access = std::any_of(peers.begin(), peers.end(), [&flow](const LinkFlow& pair) {
      return pair.source == flow.source && pair.target == flow.target;
    });
    const std::string& error = input_.copies.copies[i].error;
    if (error.empty() || (task.peer_to_peer && !has_access)) continue;
    RunFailure failure;
    failure.kind = "exception";
    failure.message = plan::text_of(task, placement_.names) + ": " + error;
    failure.host = input_.host.hostname;
    failure.phase = "measure";
    return fail(failure, ExitCode::kWorker);
  }
}

void Runner::measure_collectives() {
  if (placement_.devices.size() < 2) return;
  measure_collectives(placement_.on_gpu());
  if (placement_.on_gpu() && may_go_on()) measure_collectives(false);
}

void Runner::measure_collectives(bool peer_to_peer) {
  report::CollectivePass pass;
  pass.peer_to_peer = peer_to_peer;
  pass.work = plan::collective_work(placement_.on_gpu());
  const Plan plan = plan::collective_plan(placement_, input_.host, peer_to_peer);
  pass.backend = plan.backend;
  log_.info("measuring collectives over " + plan.backend +
            (placement_.on_gpu() && !peer_to_peer ? ", peer-to-peer transport off" : ""));
  const RunLog log = launch(plan, pass.work);
  if (log.failure) {
    pass.error = log.failure->message;
    fail(*log.failure, static_cast<ExitCode>(log.exit_code));
  } else {
    for (const auto& records : log.records) {
      pass.ranks.push_back(*records->links);
      pass.transports.push_back(records->transports);
    }
  }
  input_.collectives.push_back(std::move(pass));
}

}  // namespace

ExitCode measure_links(const plan::Placement& placement, const LinksRunOptions& options, Log& log,
                       launch::SignalWatch& signals, report::LinksInput& input) {
  return Runner(placement, options, log, signals, input).run();
}

}  // namespace falcon::cli
