#include "plan/nccl.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::plan {
namespace {

constexpr int kFirstFalconNode = 100;  // above the numbers of real NUMA nodes
constexpr const char* kGpuClass = "0x030200";
constexpr const char* kSwitchClass = "0x068000";
constexpr const char* kNobody = "ffff:ff:1f.0";  // an address that no device has

[[noreturn]] void refuse(const char* key, const std::string& message) {
  throw InputError({Fault{"spec", 0, 0, key, message}});
}

bool is_falcon(const GpuPlace& gpu) {
  return gpu.attach.value == "falcon";
}

// What the user told NCCL and what would work against the emulation.
void check_environment(const Host& host) {
  static constexpr std::array kOwn = {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_TOPO_FILE",
                                      "NCCL_SHM_DISABLE", "NCCL_P2P_DIRECT_DISABLE"};
  for (const char* name : kOwn) {
    if (host.environment.contains(name)) {
      refuse("emulate.falcon_link", std::string("sets the transports of NCCL itself, but ") + name +
                                        " is set in the environment: unset it");
    }
  }
  const auto switched = host.environment.find("NCCL_NVLS_ENABLE");
  if (switched != host.environment.end() && switched->second != "0") {
    refuse("emulate.falcon_link",
           "stages what GPUs send each other, which NVLink's switches would carry past it: unset "
           "NCCL_NVLS_ENABLE");
  }
  const auto algorithm = host.environment.find("NCCL_ALGO");
  if (algorithm != host.environment.end() && algorithm->second.find("NVLS") != std::string::npos) {
    refuse("emulate.falcon_link", "does not go with NCCL_ALGO=" + algorithm->second +
                                      ", which is set in the environment: unset it");
  }
}

void check_emulation(const Plan& plan, const Host& host) {
  const char* key = "emulate.falcon_link";
  if (plan.places.gpus.empty()) refuse(key, "needs GPUs, but topology is cpu");
  if (plan.places.gpus.size() < 2) {
    refuse(key, "stages what GPUs send each other, but there is one device only");
  }
  if (plan.backend != "nccl" || plan.ranks.size() != plan.places.gpus.size()) {
    refuse(key, "needs a worker for each GPU, which exchange through NCCL; parallelism is " +
                    plan.parallelism);
  }
  std::vector<std::string> real;
  bool has_emulated = false;
  for (const GpuPlace& gpu : plan.places.gpus) {
    has_emulated = has_emulated || gpu.emulated;
    if (is_falcon(gpu) && !gpu.emulated) real.push_back(gpu.name);
  }
  if (!has_emulated) {
    refuse(key,
           "none of the GPUs plays one of a chassis: mark them attach: falcon, emulated: true in "
           "the system file (key system)");
  }
  if (!real.empty()) {
    refuse(key, base::join(real, ", ") +
                    " sit in a chassis: emulated and real chassis GPUs do not go together");
  }
  check_environment(host);
}

void check_named(const RunSpec& spec, const Placement& placement, const SystemFile& system) {
  if (emulates(spec)) return;
  std::vector<std::string> emulated;
  for (std::size_t i = 0; i < placement.declared.size(); ++i) {
    const bool is_by_name = system.gpus.contains(placement.names[i]);
    if (is_by_name && placement.declared[i]->emulated) emulated.push_back(placement.names[i]);
  }
  if (emulated.empty()) return;
  refuse("topology",
         base::join(emulated, ", ") +
             ": marked emulated in the system file, so they play chassis GPUs only with "
             "emulate: {falcon_link: " +
             kHostStaged + "}; name them by address to use them as they are");
}

int links_between(const Host& host, const Gpu* a, const Gpu* b) {
  if (!host.gpu_paths.has_value()) return 0;
  const auto index = [&](const Gpu* gpu) {
    return static_cast<std::size_t>(gpu - host.gpus.data());
  };
  const std::string& path = (*host.gpu_paths)[index(a)][index(b)];
  return path.starts_with("NV") ? std::atoi(path.c_str() + 2) : 0;
}

// Through switches every label is of the GPU, not of the pair: together more than it has.
bool has_nvlink_switch(const Host& host, const Gpu* gpu) {
  int sum = 0;
  for (const Gpu& other : host.gpus) sum += &other == gpu ? 0 : links_between(host, gpu, &other);
  return gpu->nvlinks.has_value() && sum > *gpu->nvlinks;
}

std::string nvlink(const std::string& target, int count, const char* kind) {
  return "<nvlink target=\"" + target + "\" count=\"" + std::to_string(count) + "\" tclass=\"" +
         kind + "\"/>";
}

// A GPU with links to the others of the host that the run uses; one without gets a link to nobody,
// so that NCCL looks for none itself.
std::string gpu_xml(const Gpu* gpu, const std::vector<const Gpu*>& peers, const Host& host) {
  std::string links;
  for (const Gpu* peer : peers) {
    const int count = peer == gpu ? 0 : links_between(host, gpu, peer);
    if (count == 0) continue;
    if (has_nvlink_switch(host, gpu)) {
      links = nvlink(kNobody, count, kSwitchClass);
      break;
    }
    links += nvlink(peer->pci_address, count, kGpuClass);
  }
  if (links.empty()) links = nvlink(kNobody, 1, kGpuClass);
  std::string attributes;
  if (gpu->compute_capability.has_value()) {
    std::string digits = *gpu->compute_capability;  // 9.0
    digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
    attributes = " sm=\"" + digits + "\"";
  }
  return "    <pci busid=\"" + gpu->pci_address + "\" class=\"" + kGpuClass + "\">\n      <gpu" +
         attributes + ">" + links + "</gpu>\n    </pci>\n";
}

// NCCL wants to know what a CPU is, for the speed between sockets. Family and model are those of a
// current server: there it knows no difference.
std::string cpu_xml(int node, const Host& host) {
#ifdef __aarch64__
  const std::string kind = "arch=\"arm64\"";
#else
  const bool is_amd = host.cpu.model.has_value() && host.cpu.model.value->starts_with("AMD");
  const std::string kind = std::string("arch=\"x86_64\" vendor=\"") +
                           (is_amd ? "AuthenticAMD" : "GenuineIntel") +
                           "\" familyid=\"6\" modelid=\"143\"";
#endif
  return "  <cpu numaid=\"" + std::to_string(node) + "\" " + kind + ">\n";
}

std::string topology_xml(const Plan& plan, const Placement& placement, const Host& host) {
  std::vector<const Gpu*> locals, falcons;
  for (std::size_t i = 0; i < placement.gpus.size(); ++i) {
    (is_falcon(plan.places.gpus[i]) ? falcons : locals).push_back(placement.gpus[i]);
  }
  std::vector<int> nodes;  // real ones, so that NICs find theirs
  for (const NumaNode& node : host.numa_nodes) nodes.push_back(node.id);
  if (nodes.empty()) nodes.push_back(0);
  std::string xml = "<system version=\"1\">\n";
  for (const int node : nodes) {
    xml += cpu_xml(node, host);
    if (node == nodes.front()) {
      for (const Gpu* gpu : locals) xml += gpu_xml(gpu, locals, host);
    }
    xml += "  </cpu>\n";
  }
  int next = kFirstFalconNode;
  for (const Gpu* gpu : falcons) {
    xml += cpu_xml(next++, host) + gpu_xml(gpu, {}, host) + "  </cpu>\n";
  }
  return xml + "</system>\n";
}

}  // namespace

bool emulates(const RunSpec& spec) {
  return spec.emulate.falcon_link.has_value();
}

NcclPlan plan_nccl(const Plan& plan, const Placement& placement, const Host& host,
                   const SystemFile& system) {
  check_named(plan.spec, placement, system);
  NcclPlan nccl;
  const bool has_own_log =
      host.environment.contains("NCCL_DEBUG") || host.environment.contains("NCCL_DEBUG_FILE");
  if (emulates(plan.spec)) check_emulation(plan, host);
  if (plan.backend == "nccl" && (emulates(plan.spec) || !has_own_log)) {
    nccl.environment = {{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT"}};
  }
  if (!emulates(plan.spec)) return nccl;
  nccl.environment["NCCL_NVLS_ENABLE"] = "0";
  if (std::all_of(plan.places.gpus.begin(), plan.places.gpus.end(), is_falcon)) {
    nccl.environment["NCCL_P2P_DISABLE"] = "1";
    return nccl;
  }
  nccl.environment["NCCL_P2P_LEVEL"] = "PHB";
  nccl.topology = topology_xml(plan, placement, host);
  return nccl;
}

}  // namespace falcon::plan
