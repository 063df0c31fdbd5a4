#include "platform/dump/kinds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "falconbench/errors.h"
#include "platform/cpus.h"
#include "platform/dump/manifest.h"
#include "platform/dump/read_nccl.h"
#include "platform/dump/xml.h"

namespace falcon::platform {
namespace {

[[noreturn]] void refuse_second() {
  throw Error(ExitCode::kUsage, "there is another file of its kind already");
}

template <class T>
void put(std::optional<FromFile<T>>& place, const std::string& file, T content) {
  if (place) refuse_second();
  place = FromFile<T>{file, std::move(content)};
}

void read_manifest_file(const std::string& file, std::string_view text, Dump& dump) {
  add_root(file, Root(expand_manifest(text)), dump);
}

void read_hwloc_file(const std::string& file, std::string_view text, Dump& dump) {
  HwlocMachine machine = read_hwloc(text);
  put(dump.hwloc_nodes, file, std::move(machine.nodes));
  dump.hwloc_hypervisor = std::move(machine.hypervisor);
  add_tree(file, std::move(machine.tree), dump);
}

void read_nvlink_file(const std::string& file, std::string_view text, Dump& dump) {
  std::vector<NvlinkGpu> gpus = read_nvlink(text);
  const auto any = [&](auto has) { return std::any_of(gpus.begin(), gpus.end(), has); };
  if (any([](const NvlinkGpu& gpu) { return !gpu.remotes.empty(); })) {
    put(dump.nvlink_remotes, file, std::move(gpus));
  } else if (any([](const NvlinkGpu& gpu) { return gpu.tells_links; })) {
    put(dump.nvlink_states, file, std::move(gpus));
  } else {
    // The same lines as those of `nvidia-smi -L`: nothing is said about links.
    put(dump.gpu_names, file, std::move(gpus));
  }
}

void read_topo_file(const std::string& file, std::string_view text, Dump& dump) {
  TopoMatrix matrix = read_topo_matrix(text);
  if (matrix.is_peer_status) {
    dump.peer_status.push_back({file, std::move(matrix)});
  } else {
    put(matrix.is_pcie_only ? dump.topo_pcie : dump.topo, file, std::move(matrix));
  }
}

void read_listing_file(const std::string& file, std::string_view text, Dump& dump) {
  if (auto control = read_access_control(text)) {
    put(dump.access_control, file, *std::move(control));
  }
  put(dump.lspci_listing, file, read_lspci_listing(text));
}

template <const char* name>
bool is_xml_of(std::string_view text) {
  return xml_root_name(text) == name;
}

constexpr char kHwlocRoot[] = "topology";
constexpr char kNcclRoot[] = "system";
constexpr char kSmiRoot[] = "nvidia_smi_log";
constexpr char kListing[] = "lspci -vv";
constexpr char kAccessControl[] = "ACSCtl lines of lspci";

using Text = std::string_view;
using File = const std::string&;

constexpr std::array<WholeKind, 5> kWhole = {{
    {"sysfs manifest", true, is_manifest, read_manifest_file},
    {"hwloc XML", false, is_xml_of<kHwlocRoot>, read_hwloc_file},
    {"NCCL topology XML", false, is_xml_of<kNcclRoot>,
     [](File f, Text t, Dump& d) { add_tree(f, read_nccl(t), d); }},
    {"nvidia-smi -q -x", false, is_xml_of<kSmiRoot>,
     [](File f, Text t, Dump& d) {
       d.reports.push_back({f, read_smi_xml(t)});
     }},
    {"NVML probe", true, is_nvml_probe,
     [](File f, Text t, Dump& d) { put(d.probe, f, read_nvml_probe(t)); }},
}};

constexpr std::array<OutputKind, 13> kOutputs = {{
    {"nvidia-smi -q", begins_smi_text, begins_smi_text, false,
     [](File f, Text t, Dump& d) {
       d.reports.push_back({f, read_smi_text(t)});
     }},
    {"nvidia-smi", begins_smi_table, begins_smi_table, true,
     [](File f, Text t, Dump& d) { put(d.table, f, read_smi_table(t)); }},
    {"nvidia-smi topo -m, -mp or -p2p", begins_topo_matrix, begins_topo_matrix, true,
     read_topo_file},
    {"nvidia-smi nvlink -s or -R", begins_nvlink_list,
     [](Text line) { return line.starts_with("GPU 0:"); }, false, read_nvlink_file},
    {"nvidia-smi --query-gpu CSV", begins_gpu_csv, begins_gpu_csv, false,
     [](File f, Text t, Dump& d) {
       d.csv.push_back({f, read_gpu_csv(t)});
     }},
    {"nvidia-smi dmon", begins_dmon, nullptr, false,
     [](File f, Text t, Dump& d) { put(d.monitor, f, read_dmon(t)); }},
    {"lspci -tv", begins_lspci_tree, begins_lspci_tree, false,
     [](File f, Text t, Dump& d) { add_tree(f, read_lspci_tree(t), d); }},
    {kListing, begins_lspci_listing, nullptr, false, read_listing_file},
    {kAccessControl, begins_access_control, nullptr, false,
     [](File f, Text t, Dump& d) { put(d.access_control, f, *read_access_control(t)); }},
    {"p2pBandwidthLatencyTest", begins_peer_test, begins_peer_test, false,
     [](File f, Text t, Dump& d) { put(d.peer_test, f, read_peer_test(t)); }},
    {"numactl --hardware", begins_numactl, begins_numactl, false,
     [](File f, Text t, Dump& d) { put(d.numactl, f, read_numactl(t)); }},
    {"lscpu", begins_lscpu, nullptr, false,
     [](File f, Text t, Dump& d) { put(d.cpu_listing, f, read_lscpu(t)); }},
    {"/proc/driver/nvidia", begins_driver_files, nullptr, false,
     [](File f, Text t, Dump& d) { put(d.driver_files, f, read_driver_files(t)); }},
}};

}  // namespace

std::span<const WholeKind> whole_kinds() {
  return kWhole;
}

std::span<const OutputKind> output_kinds() {
  return kOutputs;
}

bool begins_another(std::string_view line, const OutputKind& begun, const OutputKind& open) {
  if (&begun == &open) return open.restarts != nullptr && open.restarts(line);
  return begun.title != kAccessControl || open.title != kListing;  // lspci -vvv has these lines too
}

void add_tree(const std::string& file, PciTree tree, Dump& dump) {
  for (const PciTree& other : dump.trees) {
    if (other.source == tree.source) refuse_second();
  }
  tree.file = file;
  dump.trees.push_back(std::move(tree));
}

void add_root(const std::string& file, const Root& root, Dump& dump) {
  if (dump.sysfs) refuse_second();
  if (root.exists("sys/bus/pci/devices")) add_tree(file, read_sysfs_tree(root), dump);
  SysfsFacts facts;
  facts.nodes = read_numa_nodes(root);
  facts.drives = read_nvme_drives(root);
  facts.mounts = read_block_mounts(root);
  facts.unknown_mounts = mounts_without_device(root);
  facts.hypervisor = read_hypervisor(root);
  facts.container = Measured<std::string>::missing("not part of the file");
  put(dump.sysfs, file, std::move(facts));
}

}  // namespace falcon::platform
