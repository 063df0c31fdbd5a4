// Supervisor, the part that listens to the launchers of other hosts.
#include <algorithm>

#include "base/text.h"
#include "falconbench/clock.h"
#include "launch/supervisor.h"

namespace falcon::launch {
namespace {
// A launcher answers every second. When it does not, its workers are not heard either, and it is
// the host that is to be named.
constexpr double kQuietSeconds = 2.5;
}  // namespace

std::vector<RemoteHost*> Supervisor::hosts() const {
  std::vector<RemoteHost*> all;
  if (options_.crew == nullptr) return all;
  for (const auto& host : options_.crew->hosts()) {
    if (!host->is_lost()) all.push_back(host.get());
  }
  return all;
}

std::vector<pollfd> Supervisor::others_to_wait_for() const {
  std::vector<pollfd> waits = {{signals_.fd(), POLLIN, 0}};
  for (RemoteHost* host : hosts()) {
    const int events = POLLIN | (host->link().wants_to_write() ? POLLOUT : 0);
    waits.push_back({host->link().fd(), static_cast<short>(events), 0});
  }
  return waits;
}

void Supervisor::hear_hosts(double now_s) {
  for (RemoteHost* host : hosts()) {
    try {
      host->receive(now_s);
    } catch (const Error& error) {  // not what a launcher of this build says
      lose(*host, error.what(), ExitCode::kWorker, now_s);
      continue;
    }
    if (const auto signal = host->take_signal()) {
      obey_signal(*signal, " on " + host->name(), now_s);
    }
    if (const auto refusal = host->take_refusal()) {
      lose(*host, refusal->message, static_cast<ExitCode>(refusal->exit_code), now_s);
    }
  }
  for (Worker& worker : fleet_.workers()) {
    if (worker.host == nullptr) continue;
    for (const std::string& line : worker.host->part(worker.rank).lines) worker.output.take(line);
    worker.host->part(worker.rank).lines.clear();
  }
}

void Supervisor::check_hosts(double now_s) {
  for (RemoteHost* host : hosts()) {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%.3g s", host->silent_s(now_s));
    if (!host->link().is_open()) {
      lose(*host, "its launcher closed the connection", ExitCode::kWorker, now_s);
    } else if (host->silent_s(now_s) >= options_.limits.alive_timeout_s) {
      lose(*host, "it has given no sign of life for " + std::string(limit), ExitCode::kHang, now_s);
    }
  }
}

void Supervisor::lose(RemoteHost& host, const std::string& why, ExitCode code, double now_s) {
  host.lose("lost with its host");
  std::vector<std::string> ranks;
  for (const int rank : host.ranks()) ranks.push_back(std::to_string(rank));
  Candidate candidate;
  candidate.failure.kind = code == ExitCode::kHost ? "host" : "host_lost";
  candidate.failure.message =
      "host " + host.name() + " (rank " + base::join(ranks, ", ") + "): " + why;
  candidate.code = code;
  candidate.time_s = code == ExitCode::kHang ? now_s - host.silent_s(now_s) : now_s;
  candidate.is_sudden = true;
  for (Worker& worker : fleet_.workers()) {
    if (worker.host != &host) continue;
    const bool is_first = worker.rank == host.ranks().front();
    const bool is_over = !worker.process->is_running() || worker.records.has_value();
    worker.has_reported_failure = true;
    if (is_first && !(is_over && fleet_.has_all_records())) fail(worker, candidate);
  }
}

double Supervisor::next_host_check_s() const {
  double next_s = kNever;
  const double now_s = steady_now_s();
  for (const RemoteHost* host : hosts()) {
    next_s = std::min({next_s, host->next_ping_s(),
                       now_s + options_.limits.alive_timeout_s - host->silent_s(now_s)});
  }
  return next_s;
}

bool Supervisor::is_host_quiet(const Worker& worker, double now_s) const {
  return worker.host != nullptr && worker.host->silent_s(now_s) > kQuietSeconds;
}

}  // namespace falcon::launch
