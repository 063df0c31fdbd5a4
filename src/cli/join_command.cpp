// A process of the run that torchrun, mpirun or srun started, and which is not the first of its
// host.
#include <cstdlib>

#include <unistd.h>

#include "cli/probe.h"
#include "cli/run.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "launch/joined.h"
#include "platform/detect.h"
#include "platform/merge_probe.h"
#include "platform/visible_devices.h"

namespace falcon::cli {
namespace {
constexpr double kDoorSeconds = 60;  // for the launcher of this host to be there
}

std::string host_name() {
  const char* given = std::getenv("FALCONBENCH_HOSTNAME");
  if (given != nullptr && *given != '\0') return given;
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

void join_run(const launch::Job& job, const std::string& program) {
  platform::DetectOptions detection;
  detection.nvml = std::make_shared<const platform::Nvml>();
  Host host = platform::detect(detection);
  if (platform::needs_cuda(host)) platform::merge_probe(host, probe());
  launch::Join join;
  join.gpus = host.gpus;
  join.cpus = host.cpu.allowed;
  launch::Waiting waiting;
  waiting.until_s = steady_now_s() + kDoorSeconds;
  std::string message;
  const ExitCode code = launch::become_worker(job, std::move(join), program, waiting, message);
  throw Error(code, message);
}

}  // namespace falcon::cli
