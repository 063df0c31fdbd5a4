#include "platform/cpus.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include <sched.h>

#include "base/text.h"

namespace falcon::platform {
namespace {

// The text after "key   : " of each line that begins with key, in the order of the file.
std::vector<std::string> cpuinfo_values(const std::string& text, std::string_view key) {
  std::vector<std::string> values;
  for (const std::string& line : base::split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (base::trim(std::string_view(line).substr(0, colon)) != key) continue;
    values.emplace_back(base::trim(std::string_view(line).substr(colon + 1)));
  }
  return values;
}

Measured<std::string> read_model(const Root& root) {
  Measured<std::string> info = root.read("proc/cpuinfo");
  if (!info.has_value()) return info;
  for (const char* key : {"model name", "cpu", "Hardware", "Model"}) {
    const std::vector<std::string> values = cpuinfo_values(*info, key);
    if (!values.empty() && !values.front().empty()) return values.front();
  }
  return Measured<std::string>::missing("/proc/cpuinfo has no model name");
}

// The mask may be wider than cpu_set_t on machines with more than 1024 CPUs: grow until it fits.
std::vector<int> kernel_affinity() {
  for (int capacity = 1024; capacity <= (1 << 16); capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(capacity));
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    std::vector<int> cpus;
    const bool is_read = sched_getaffinity(0, size, set) == 0;
    for (int cpu = 0; is_read && cpu < capacity; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (is_read) return cpus;
  }
  return {};
}

std::vector<int> read_affinity(const Root& root) {
  if (root.is_this_host()) return kernel_affinity();
  const Measured<std::string> status = root.read("proc/self/status");
  if (!status.has_value()) return {};
  const std::vector<std::string> lists = cpuinfo_values(*status, "Cpus_allowed_list");
  if (lists.empty()) return {};
  return parse_cpu_list(lists.front()).value.value_or(std::vector<int>());
}

struct Packages {
  Measured<int> sockets, cores;
};

Packages packages_from_sysfs(const Root& root, const std::vector<int>& cpus) {
  std::set<std::int64_t> sockets;
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const auto package = root.integer(folder + "physical_package_id");
    if (package.has_value() && *package >= 0) sockets.insert(*package);
    auto siblings = root.text(folder + "core_cpus_list");
    if (!siblings.has_value()) siblings = root.text(folder + "thread_siblings_list");
    if (siblings.has_value()) cores.insert(*siblings);
  }
  Packages packages;
  if (!sockets.empty()) packages.sockets = static_cast<int>(sockets.size());
  if (!cores.empty()) packages.cores = static_cast<int>(cores.size());
  return packages;
}

Packages read_packages(const Root& root, const std::vector<int>& cpus) {
  Packages packages = packages_from_sysfs(root, cpus);
  if (packages.sockets.has_value() && packages.cores.has_value()) return packages;
  const std::string info = root.read("proc/cpuinfo").value.value_or("");
  const std::vector<std::string> sockets = cpuinfo_values(info, "physical id");
  const std::vector<std::string> cores = cpuinfo_values(info, "core id");
  const std::string reason = "neither sysfs nor /proc/cpuinfo tells sockets and cores";
  if (!packages.sockets.has_value()) {
    const std::set<std::string> distinct(sockets.begin(), sockets.end());
    packages.sockets = distinct.empty() ? Measured<int>::missing(reason)
                                        : Measured<int>(static_cast<int>(distinct.size()));
  }
  if (!packages.cores.has_value()) {
    std::set<std::pair<std::string, std::string>> distinct;
    for (std::size_t i = 0; i < cores.size() && i < sockets.size(); ++i) {
      distinct.emplace(sockets[i], cores[i]);
    }
    packages.cores = distinct.empty() ? Measured<int>::missing(reason)
                                      : Measured<int>(static_cast<int>(distinct.size()));
  }
  return packages;
}

}  // namespace

std::vector<int> online_cpus(const Root& root) {
  const auto list = root.text("sys/devices/system/cpu/online");
  if (list.has_value()) {
    const auto cpus = parse_cpu_list(*list);
    if (cpus.has_value() && !cpus.value->empty()) return *cpus;
  }
  std::set<int> cpus;
  const std::string info = root.read("proc/cpuinfo").value.value_or("");
  for (const std::string& number : cpuinfo_values(info, "processor")) {
    const auto cpu = parse_integer(number);
    if (cpu.has_value()) cpus.insert(static_cast<int>(*cpu));
  }
  if (cpus.empty()) {
    for (const NumaNode& node : read_numa_nodes(root)) {
      cpus.insert(node.cpus.begin(), node.cpus.end());
    }
  }
  return {cpus.begin(), cpus.end()};
}

Cpu read_cpu(const Root& root, const std::optional<std::vector<int>>& affinity,
             const Measured<double>& quota_cpus) {
  const std::vector<int> online = online_cpus(root);
  Cpu cpu;
  cpu.model = read_model(root);
  cpu.logical = static_cast<int>(online.size());
  const Packages packages = read_packages(root, online);
  cpu.sockets = packages.sockets;
  cpu.cores = packages.cores;
  cpu.allowed = affinity ? *affinity : read_affinity(root);
  if (cpu.allowed.empty()) cpu.allowed = online;
  cpu.quota_cpus = quota_cpus;
  double usable = static_cast<double>(cpu.allowed.size());
  if (quota_cpus.has_value()) usable = std::min(usable, std::floor(*quota_cpus));
  cpu.usable = std::max(1, static_cast<int>(usable));
  return cpu;
}

std::vector<NumaNode> read_numa_nodes(const Root& root) {
  std::vector<NumaNode> nodes;
  for (const std::string& name : root.names("sys/devices/system/node")) {
    if (!name.starts_with("node")) continue;
    const auto id = parse_integer(std::string_view(name).substr(4));
    if (!id.has_value()) continue;
    const std::string folder = "sys/devices/system/node/" + name;
    NumaNode node;
    node.id = static_cast<int>(*id);
    // A node without CPUs (memory only) has an empty list.
    node.cpus = parse_cpu_list(root.read(folder + "/cpulist").value.value_or(""))
                    .value.value_or(std::vector<int>());
    const auto meminfo = root.read(folder + "/meminfo");
    node.memory_bytes = Measured<std::int64_t>::missing(meminfo.reason);
    if (meminfo.has_value()) {
      const auto kib = number_after(*meminfo, "Node " + std::to_string(*id) + " MemTotal:");
      node.memory_bytes = kib;
      if (kib.has_value()) node.memory_bytes = *kib * 1024;
    }
    nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
  return nodes;
}

}  // namespace falcon::platform
