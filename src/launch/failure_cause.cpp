#include "launch/failure_cause.h"

#include <algorithm>
#include <csignal>

#include "base/text.h"

namespace falcon::launch {
namespace {

constexpr std::size_t kQuotedLines = 10;

double presumed_time_s(const Candidate& candidate, double settle_s) {
  return candidate.is_sudden ? candidate.time_s - settle_s : candidate.time_s;
}

std::string quoted(const std::vector<std::string>& lines) {
  if (lines.empty()) return ", without any output";
  std::string text = "; its last output:";
  const std::size_t first = lines.size() > kQuotedLines ? lines.size() - kQuotedLines : 0;
  for (std::size_t i = first; i < lines.size(); ++i) text += "\n  " + lines[i];
  return text;
}

std::string hint(int signal) {
  switch (signal) {
    case SIGKILL:
      return " (somebody sent it, or the kernel when memory ran out: see dmesg)";
    case SIGBUS:
      return " (often a full /dev/shm, or a file that was cut while it was mapped)";
    default:
      return "";
  }
}

}  // namespace

const Candidate& cause_of(std::span<const Candidate> candidates, double settle_s) {
  return *std::min_element(candidates.begin(), candidates.end(),
                           [settle_s](const Candidate& a, const Candidate& b) {
                             return presumed_time_s(a, settle_s) < presumed_time_s(b, settle_s);
                           });
}

Candidate unexpected_end(const ProcessEnd& end, pid_t pid, double now_s,
                         const std::vector<std::string>& last_lines) {
  Candidate candidate;
  candidate.failure.kind = end.by_signal ? "killed" : "exited";
  candidate.failure.message =
      "the worker (process " + std::to_string(pid) + ") " +
      (!end.unknown.empty() ? "ended before its results"
       : end.by_signal
           ? "was killed by " + signal_name(end.code) + hint(end.code)
           : "ended with exit code " + std::to_string(end.code) + " before its results") +
      quoted(last_lines);
  candidate.time_s = now_s;
  // SIGABRT is the worker's own decision, mostly because a peer was lost
  candidate.is_sudden = !(end.by_signal && end.code == SIGABRT);
  return candidate;
}

ExitCode code_of_message(int wish) {
  const bool is_kept = wish == static_cast<int>(ExitCode::kUsage) ||
                       wish == static_cast<int>(ExitCode::kHost) ||
                       wish == static_cast<int>(ExitCode::kHang);
  return is_kept ? static_cast<ExitCode>(wish) : ExitCode::kWorker;
}

std::string device_text(const RankPlan& rank) {
  std::vector<std::string> names;
  for (const DevicePlan& device : rank.devices) {
    const std::string name = device.name.empty() ? device.kind : device.name;
    names.push_back(device.pci_address.empty() ? name : name + " (" + device.pci_address + ")");
  }
  return base::join(names, ", ");
}

}  // namespace falcon::launch
