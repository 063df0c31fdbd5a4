#include "platform/detect.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "platform/cgroup.h"
#include "platform/cpus.h"
#include "platform/gpus.h"
#include "platform/machine/host_places.h"
#include "platform/root.h"
#include "platform/visible_devices.h"

namespace falcon::platform {
namespace {

using Text = Measured<std::string>;

std::string read_hostname(const Root& root) {
  if (const Text name = root.text("proc/sys/kernel/hostname"); name.has_value()) return *name;
  char name[256] = {};
  if (root.is_this_host() && gethostname(name, sizeof name - 1) == 0) return name;
  return "unknown";
}

Text read_os(const Root& root) {
  Text release = root.read("etc/os-release");
  if (!release.has_value()) release = root.read("usr/lib/os-release");
  if (!release.has_value()) return release;
  for (const std::string& line : base::split(*release, '\n')) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string_view name = base::trim(std::string_view(line).substr(12));
    if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'')) {
      name = name.substr(1, name.size() - 2);
    }
    return std::string(name);
  }
  return Text::missing("/etc/os-release has no PRETTY_NAME");
}

Text read_container(const Root& root, const Environment& environment) {
  if (root.exists("run/.containerenv")) return std::string("podman");
  if (environment.contains("KUBERNETES_SERVICE_HOST")) return std::string("kubernetes");
  if (root.exists(".dockerenv")) return std::string("docker");
  if (root.exists(".singularity.d")) return std::string("apptainer");
  if (const Text kind = root.text("run/systemd/container"); kind.has_value()) return *kind;
  const std::string groups = root.read("proc/self/cgroup").value.value_or("");
  for (const char* word : {"kubepods", "docker", "containerd", "libpod", "lxc", "garden"}) {
    if (groups.find(word) != std::string::npos) return std::string(word);
  }
  return Text::missing("no sign of a container");
}

Measured<std::int64_t> read_memory(const Root& root) {
  const Text meminfo = root.read("proc/meminfo");
  if (!meminfo.has_value()) return Measured<std::int64_t>::missing(meminfo.reason);
  const auto kib = number_after(*meminfo, "MemTotal:");
  if (!kib.has_value()) return Measured<std::int64_t>::missing("/proc/meminfo: " + kib.reason);
  return *kib * 1024;
}

Measured<std::int64_t> read_shared_memory(const Root& root) {
  struct statvfs space {};
  if (statvfs(root.at("dev/shm").c_str(), &space) != 0) {
    return Measured<std::int64_t>::missing("there is no /dev/shm");
  }
  return static_cast<std::int64_t>(space.f_bavail) * static_cast<std::int64_t>(space.f_frsize);
}

std::shared_ptr<const Nvml> nvml_for(const DetectOptions& options, const Root& root,
                                     const Environment& environment) {
  if (options.nvml) return options.nvml;
  if (root.is_this_host() || environment.contains("FALCONBENCH_NVML_LIBRARY")) {
    return std::make_shared<const Nvml>();
  }
  return nullptr;
}

}  // namespace

Host detect(const DetectOptions& options) {
  const Root root(options.root);
  const Environment environment = options.environment.value_or(process_environment());
  Host host;
  host.hostname = read_hostname(root);
  host.os = read_os(root);
  host.kernel = root.text("proc/sys/kernel/osrelease");
  host.container = read_container(root, environment);
  const CgroupLimits limits = cgroup_limits(root);
  host.cpu = read_cpu(root, options.affinity, limits.quota_cpus);
  host.memory_bytes = read_memory(root);
  host.memory_limit_bytes = limits.memory_bytes;
  host.shared_memory_bytes = read_shared_memory(root);
  host.numa_nodes = read_numa_nodes(root);
  host.environment = shown_environment(environment);
  const auto nvml = nvml_for(options, root, environment);
  if (nvml) {
    read_gpus(root, *nvml, getpid(), host);
    hide_invisible_gpus(host, environment);
  } else {
    host.driver = Text::missing("no NVML library belongs to this root");
    host.driver_cuda = host.driver;
  }
  const Dump dump = read_this_host(root, host, nvml.get());
  add_places(make_machine(dump), dump, host);
  return host;
}

}  // namespace falcon::platform
