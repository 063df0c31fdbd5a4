// One machine, joined from all that was read about it. Unknown is missing with a reason, never 0.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "falconbench/finding.h"
#include "falconbench/host.h"
#include "falconbench/measured.h"
#include "platform/dump/dump.h"

namespace falcon::platform {

/// Cells between GPUs: "X" on the diagonal.
using Matrix = std::vector<std::vector<std::string>>;
/// Numbers of GPUs that belong together, each group sorted, groups by their first.
using Groups = std::vector<std::vector<int>>;

struct MachineGpu {
  std::string address;  // normal PCI address; empty: no file tells it
  std::string bus_id;   // as nvidia-smi prints it; empty: it was not asked
  std::string name;     // product; empty: unknown
  std::string model;    // the same for boards of one product; empty: unknown
  Measured<int> numa_node;
  std::string cpus;                                      // near ones: "0-19,40-59"; empty: unknown
  Measured<int> gen_cur, gen_max, width_cur, width_max;  // maxima of GPU and slot together
  Measured<double> power_limit_w;
  // A proposal for the user to confirm: "local" or "falcon", and which drawer of the chassis.
  Measured<std::string> place;
  Measured<int> drawer;
};

struct Nvlink {
  Measured<std::vector<std::array<int, 3>>> pairs;  // i < j, number of links; sorted
  Measured<std::vector<int>> links_per_gpu;
  Measured<bool> via_switch;
  Measured<double> gb_per_s_per_link;  // one way, as nvidia-smi prints it
};

/// The link between the host and a drawer.
struct HostLink {
  int drawer = 0;
  std::string root_port, switch_upstream;
  Measured<int> gen, width, numa_node;
};

struct Machine {
  Measured<int> gpu_count;
  std::string gpu_source;        // the file that told the GPUs
  std::vector<MachineGpu> gpus;  // gpu_count of them; none when the count is unknown
  Measured<Matrix> pcie;         // PCIe class alone
  Measured<Matrix> topo;         // as nvidia-smi topo -m prints it: NV# wins
  Measured<Groups> switch_groups, switch_groups_near;  // PIX or PXB; PIX alone
  Nvlink nvlink;
  std::vector<HostLink> host_links;
  std::vector<NumaNode> numa_nodes;
  Measured<std::string> driver, cuda;
  Measured<bool> is_guest;  // of a hypervisor; never false: that no sign was found is no proof
  Measured<std::string> hypervisor, container;
  std::vector<Finding> findings;
};

Machine make_machine(const Dump& dump);

/// The tree that knows the GPUs best: the first that has all of them; nullptr: none has.
const PciTree* best_tree(const Machine& machine, const Dump& dump);

/// Why `gpus` is empty: there is none, or it is not known which.
std::string why_no_gpus(const Machine& machine);

/// What the state of a link means: "ok", "narrow (x8 of x16)", ...; "unknown: ..." without numbers.
std::string link_verdict(const Machine& machine, std::size_t gpu);

}  // namespace falcon::platform
