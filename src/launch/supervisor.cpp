#include "launch/supervisor.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "falconbench/clock.h"

namespace falcon::launch {
namespace {

// Parts of stop_grace_s at which the orders become harder; the rest is for reaping.
constexpr double kTermAfter = 0.2;
constexpr double kKillAfter = 0.7;
// A look at the workers that comes later than this was held up: the launcher was stopped, or the
// machine is not getting on.
constexpr double kHeldUpSeconds = 1;

double own_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

std::int64_t own_peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

std::string own_hostname() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return base::printable(name, sizeof name);
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

std::string state_text(char state) {
  switch (state) {
    case 'T':
      return "the process is stopped (state T)";
    case 't':
      return "the process is stopped by a debugger (state t)";
    case 'D':
      return "the process waits inside the kernel (state D)";
    case '?':
      return "the state of the process is not known here";
    default:
      return std::string("state ") + state;
  }
}

}  // namespace

Supervisor::Supervisor(const Plan& plan, const LaunchOptions& options, MeetingPoint meeting,
                       SignalWatch& signals)
    : plan_(plan), options_(options), signals_(signals), fleet_(plan, options, std::move(meeting)) {
  log_.started_at = wall_now_text();
  log_.started_s = steady_now_s();
  supervisor_cpu_before_s_ = own_cpu_s();
  if (plan.spec.timeout_s) {
    deadline_s_ = options.started_s.value_or(log_.started_s) + *plan.spec.timeout_s;
  }
}

void Supervisor::start() {
  for (const RankPlan& rank : plan_.ranks) {
    try {
      fleet_.start(rank.rank);
    } catch (const Error& error) {
      Candidate candidate;
      candidate.failure.kind = "host";
      candidate.failure.message = error.what();
      candidate.failure.rank = rank.rank;
      candidate.failure.device = device_text(rank);
      candidate.failure.phase = "start";
      candidate.code = error.code();
      set_failure(candidate, "failed");
      return end_all("a worker could not be started", steady_now_s());
    }
  }
}

void Supervisor::supervise() {
  while (fleet_.is_any_running()) {
    // what is due already is not late because of that
    const double wake_s = std::max(next_wake_s(), steady_now_s());
    fleet_.wait(wake_s, others_to_wait_for());
    const double now_s = steady_now_s();
    if (now_s > wake_s + kHeldUpSeconds) forgive(now_s - wake_s);
    // everything that was said is heard before anybody is judged
    hear_hosts(now_s);
    for (Worker& worker : fleet_.workers()) {
      if (!worker.process->is_running()) continue;
      hear(worker);
      worker.output.receive();
      reap(worker);
    }
    read_signals(now_s);
    check(now_s);
    advance(now_s);
  }
  if (stage_ == Stage::kSettling) conclude(steady_now_s());
}

double Supervisor::next_wake_s() const {
  double wake_s = std::min({stage_until_s_, term_s_, next_host_check_s()});
  if (stage_ != Stage::kRunning) return wake_s;
  wake_s = std::min({wake_s, deadline_s_, teardown_s_});
  for (const Worker& worker : fleet_.workers()) {
    if (!worker.process->is_running() || is_host_quiet(worker, steady_now_s())) continue;
    wake_s = std::min(wake_s, worker.watch.next_check_s());
    if (worker.channel_closed_s && !worker.records) {
      wake_s = std::min(wake_s, *worker.channel_closed_s + options_.limits.settle_s);
    }
  }
  return wake_s;
}

void Supervisor::forgive(double gap_s) {
  for (Worker& worker : fleet_.workers()) worker.watch.forgive(gap_s);
  for (RemoteHost* host : hosts()) host->forgive(gap_s);
}

void Supervisor::check(double now_s) {
  check_hosts(now_s);
  if (stage_ == Stage::kRunning) check_closed_channels(now_s);
  if (stage_ == Stage::kRunning) check_watches(now_s);
  if (stage_ == Stage::kRunning && now_s >= deadline_s_) {
    Candidate why;
    why.failure.kind = "deadline";
    why.failure.message =
        "the run took longer than timeout_s: " + base::number_text(*plan_.spec.timeout_s) + " s";
    why.code = ExitCode::kHang;
    finish_early(why, "failed", now_s);
  }
  // no failure: the results are complete
  if (stage_ == Stage::kRunning && now_s >= teardown_s_) end_all("tear-down takes too long", now_s);
}

void Supervisor::check_closed_channels(double now_s) {
  for (const Worker& worker : fleet_.workers()) {
    if (!worker.process->is_running() || !worker.channel_closed_s || worker.records) continue;
    // an ending process closes its descriptors before its end can be seen
    if (now_s < *worker.channel_closed_s + options_.limits.settle_s) continue;
    if (worker.has_reported_failure) continue;
    Candidate candidate;
    candidate.failure.kind = "protocol";
    candidate.failure.message = "the worker (process " + std::to_string(worker.process->pid()) +
                                ") closed its control channel, but did not end";
    candidate.time_s = *worker.channel_closed_s;
    fail(worker, candidate);
  }
}

void Supervisor::check_watches(double now_s) {
  const Worker* silent = nullptr;
  const Worker* stuck = nullptr;
  bool is_any_overdue = false;
  for (const Worker& worker : fleet_.workers()) {
    if (!worker.process->is_running() || worker.records || is_host_quiet(worker, now_s)) continue;
    const Watch& watch = worker.watch;
    const Watch::Verdict verdict = watch.verdict(now_s);
    is_any_overdue = is_any_overdue || verdict == Watch::Verdict::kStuck;
    if (verdict == Watch::Verdict::kSilent &&
        (silent == nullptr || watch.silent_s(now_s) > silent->watch.silent_s(now_s))) {
      silent = &worker;
    }
    // when one rank hangs, all wait for it: the one furthest behind is named
    const auto behind = [](const Watch& a, const Watch& b) {
      return a.last_step() != b.last_step() ? a.last_step() < b.last_step()
                                            : a.moved_at_s() < b.moved_at_s();
    };
    if (stuck == nullptr || behind(watch, stuck->watch)) stuck = &worker;
  }
  const Worker* worst = silent != nullptr ? silent : is_any_overdue ? stuck : nullptr;
  if (worst == nullptr) return;
  fail(*worst, hang_of(*worst, silent != nullptr, now_s));
  conclude(now_s);
}

Candidate Supervisor::hang_of(const Worker& worker, bool is_silent, double now_s) const {
  Candidate candidate;
  candidate.failure.kind = "hang";
  candidate.code = ExitCode::kHang;
  candidate.time_s = now_s;
  const std::string who = "rank " + std::to_string(worker.rank) + " (process " +
                          std::to_string(worker.process->pid()) + ") ";
  const Watch& watch = worker.watch;
  if (is_silent) {
    candidate.failure.message = who + "has given no sign of life for " +
                                seconds_text(watch.silent_s(now_s)) + ": " +
                                state_text(worker.process->state());
  } else {
    candidate.failure.message =
        who + "is alive, but has made no progress for " + seconds_text(watch.unmoved_s(now_s)) +
        " in phase " + watch.current_phase() + " after step " + std::to_string(watch.last_step()) +
        " (limit " + seconds_text(watch.progress_limit_s()) + ")";
  }
  std::vector<std::string> others;
  for (const Worker& other : fleet_.workers()) {
    if (&other != &worker && other.process->is_running() && !other.records) {
      others.push_back(std::to_string(other.rank) + " at step " +
                       std::to_string(other.watch.last_step()));
    }
  }
  if (!others.empty()) candidate.failure.message += "; other ranks: " + base::join(others, ", ");
  return candidate;
}

void Supervisor::fail(const Worker& worker, Candidate candidate) {
  RunFailure& failure = candidate.failure;
  failure.rank = worker.rank;
  const RankPlan& planned = plan_.ranks.at(static_cast<std::size_t>(worker.rank));
  if (!planned.host.empty()) failure.host = planned.host;
  if (failure.host.empty()) failure.host = own_hostname();
  if (failure.device.empty()) failure.device = device_text(planned);
  const bool is_named = failure.message.find(failure.host) != std::string::npos;
  if (worker.host != nullptr && !is_named) {
    failure.message = "on host " + failure.host + ": " + failure.message;
  }
  if (failure.phase.empty()) failure.phase = worker.watch.current_phase();
  failure.last_step = std::max(failure.last_step, worker.watch.last_step());
  const double now_s = steady_now_s();
  event(now_s, worker.rank, "failure", failure.kind + ": " + failure.message);
  if (stage_ == Stage::kRunning) {
    stage_ = Stage::kSettling;
    stage_until_s_ = now_s + options_.limits.settle_s;
  }
  if (stage_ == Stage::kSettling) candidates_.push_back(std::move(candidate));
  if (stage_ == Stage::kFinishing) end_all("a worker failed", now_s);
}

void Supervisor::conclude(double now_s) {
  set_failure(cause_of(candidates_, options_.limits.settle_s), "failed");
  end_all("rank " + std::to_string(log_.failure->rank) + " failed", now_s);
}

void Supervisor::set_failure(const Candidate& candidate, const std::string& status) {
  log_.failure = candidate.failure;
  if (log_.failure->host.empty()) log_.failure->host = own_hostname();
  log_.status = status;
  log_.exit_code = static_cast<int>(candidate.code);
}

void Supervisor::finish_early(const Candidate& why, const std::string& status, double now_s) {
  set_failure(why, status);
  Worker& first = fleet_.of_rank(0);
  log_.failure->phase = first.watch.current_phase();
  // before the measured window there is nothing that a report could hold
  if (!first.has_begun_measuring || !first.channel->is_open()) {
    return end_all(why.failure.message, now_s);
  }
  event(now_s, 0, "stop_asked", why.failure.message);
  first.channel->say(MessageType::kStop, Order{why.failure.message});
  stage_ = Stage::kFinishing;
  stage_until_s_ = now_s + options_.limits.finish_grace_s;
}

void Supervisor::end_all(const std::string& reason, double now_s) {
  fleet_.order_end(reason);
  stage_ = Stage::kEnding;
  term_s_ = now_s + kTermAfter * options_.limits.stop_grace_s;
  stage_until_s_ = now_s + kKillAfter * options_.limits.stop_grace_s;
}

void Supervisor::advance(double now_s) {
  if (now_s >= term_s_) {
    fleet_.signal_all(SIGTERM);
    term_s_ = kNever;
  }
  if (now_s < stage_until_s_) return;
  switch (stage_) {
    case Stage::kRunning:
      return;
    case Stage::kSettling:
      return conclude(now_s);
    case Stage::kFinishing:
      return end_all("not finished in time", now_s);
    case Stage::kEnding:
      return kill_all(now_s);
    case Stage::kKilled:
      break;
  }
  for (Worker& worker : fleet_.workers()) {
    if (!worker.process->is_running()) continue;
    event(now_s, worker.rank, "given_up", state_text(worker.process->state()));
    worker.process->give_up();
  }
}

void Supervisor::kill_all(double now_s) {
  if (stage_ == Stage::kSettling) conclude(now_s);  // the cause is still to be named
  for (const Worker& worker : fleet_.workers()) {
    if (worker.process->is_running()) event(now_s, worker.rank, "killed", "SIGKILL");
  }
  fleet_.signal_all(SIGKILL);
  if (stage_ != Stage::kKilled) {
    stage_ = Stage::kKilled;
    stage_until_s_ = now_s + options_.limits.stop_grace_s;
  }
  term_s_ = kNever;
}

void Supervisor::event(double time_s, int rank, std::string what, std::string detail) {
  log_.events.push_back({time_s, rank, std::move(what), std::move(detail)});
}

RunLog Supervisor::take_log() {
  log_.ended_at = wall_now_text();
  log_.ended_s = steady_now_s();
  log_.supervisor_cpu_s = own_cpu_s() - supervisor_cpu_before_s_;
  log_.supervisor_peak_rss_bytes = own_peak_rss_bytes();
  for (Worker& worker : fleet_.workers()) {
    const bool is_cause = log_.failure && log_.failure->rank == worker.rank;
    const std::optional<ProcessEnd>& end = worker.process->end();
    const bool has_failed = end && !end->is_clean() && !worker.is_told_to_end;
    log_.workers.push_back(end_of(worker, is_cause || has_failed));
    log_.records.push_back(std::move(worker.records));
  }
  while (log_.workers.size() < plan_.ranks.size()) {
    WorkerEnd end;
    end.rank = static_cast<int>(log_.workers.size());
    end.ended = "not started";
    end.user_s = end.system_s = Measured<double>::missing(end.ended);
    end.peak_rss_bytes = Measured<std::int64_t>::missing(end.ended);
    log_.workers.push_back(end);
    log_.records.emplace_back();
  }
  if (options_.crew != nullptr) log_.hosts = options_.crew->facts();
  if (log_.failure && log_.failure->rank < 0 && !fleet_.workers().empty()) {
    log_.failure->last_step = fleet_.of_rank(0).watch.last_step();
  }
  return std::move(log_);
}

}  // namespace falcon::launch
