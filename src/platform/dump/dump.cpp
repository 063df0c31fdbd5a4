#include "platform/dump/dump.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.h"
#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/cpus.h"
#include "platform/dump/manifest.h"
#include "platform/dump/read_nccl.h"
#include "platform/dump/xml.h"

namespace falcon::platform {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 64u << 20;

struct Kind {
  const char* title;
  bool is_lines;  // a text of lines: one that ends within a line is cut off
  bool (*is)(std::string_view text);
  void (*read)(const std::string& file, std::string_view text, Dump& dump);
};

[[noreturn]] void refuse_second() {
  throw Error(ExitCode::kUsage, "there is another file of its kind already");
}

template <class T>
void put(std::optional<FromFile<T>>& place, const std::string& file, T content) {
  if (place) refuse_second();
  place = FromFile<T>{file, std::move(content)};
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

void read_manifest_file(const std::string& file, std::string_view text, Dump& dump) {
  add_root(file, Root(expand_manifest(text)), dump);
}

void read_hwloc_file(const std::string& file, std::string_view text, Dump& dump) {
  HwlocMachine machine = read_hwloc(text);
  put(dump.hwloc_nodes, file, std::move(machine.nodes));
  add_tree(file, std::move(machine.tree), dump);
}

void read_nvlink_file(const std::string& file, std::string_view text, Dump& dump) {
  std::vector<NvlinkGpu> gpus = read_nvlink(text);
  const auto any = [&](auto has) { return std::any_of(gpus.begin(), gpus.end(), has); };
  if (any([](const NvlinkGpu& gpu) { return !gpu.remotes.empty(); })) {
    put(dump.nvlink_remotes, file, std::move(gpus));
  } else if (any([](const NvlinkGpu& gpu) { return gpu.active + gpu.inactive > 0; })) {
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
    put(dump.topo, file, std::move(matrix));
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

// In the order in which they are tried.
const std::array<Kind, 17>& kinds() {
  using Text = std::string_view;
  using File = const std::string&;
  static const std::array<Kind, 17> table = {{
      {"sysfs manifest", true, is_manifest, read_manifest_file},
      {"hwloc XML", false, is_xml_of<kHwlocRoot>, read_hwloc_file},
      {"NCCL topology XML", false, is_xml_of<kNcclRoot>,
       [](File f, Text t, Dump& d) { add_tree(f, read_nccl(t), d); }},
      {"nvidia-smi -q -x", false, is_xml_of<kSmiRoot>,
       [](File f, Text t, Dump& d) {
         d.reports.push_back({f, read_smi_xml(t)});
       }},
      {"nvidia-smi -q", true, is_smi_text,
       [](File f, Text t, Dump& d) {
         d.reports.push_back({f, read_smi_text(t)});
       }},
      {"nvidia-smi", true, is_smi_table,
       [](File f, Text t, Dump& d) { put(d.table, f, read_smi_table(t)); }},
      {"nvidia-smi topo -m or -p2p", true, is_topo_matrix, read_topo_file},
      {"nvidia-smi nvlink -s or -R", true, is_nvlink_list, read_nvlink_file},
      {"nvidia-smi --query-gpu CSV", true, is_gpu_csv,
       [](File f, Text t, Dump& d) {
         d.csv.push_back({f, read_gpu_csv(t)});
       }},
      {"nvidia-smi dmon", true, is_dmon,
       [](File f, Text t, Dump& d) { put(d.monitor, f, read_dmon(t)); }},
      {"NVML probe", true, is_nvml_probe,
       [](File f, Text t, Dump& d) { put(d.probe, f, read_nvml_probe(t)); }},
      {"lspci -tv", true, is_lspci_tree,
       [](File f, Text t, Dump& d) { add_tree(f, read_lspci_tree(t), d); }},
      {"lspci -vv", true, is_lspci_listing, read_listing_file},
      {"ACSCtl lines of lspci", true, [](Text t) { return read_access_control(t).has_value(); },
       [](File f, Text t, Dump& d) { put(d.access_control, f, *read_access_control(t)); }},
      {"p2pBandwidthLatencyTest", true, is_peer_test,
       [](File f, Text t, Dump& d) { put(d.peer_test, f, read_peer_test(t)); }},
      {"numactl --hardware or lscpu", true, [](Text t) { return is_numactl(t) || is_lscpu(t); },
       [](File f, Text t, Dump& d) {
         if (is_numactl(t)) put(d.numactl, f, read_numactl(t));
         if (is_lscpu(t)) put(d.cpu_listing, f, read_lscpu(t));
       }},
      {"/proc/driver/nvidia", true, is_driver_files,
       [](File f, Text t, Dump& d) { put(d.driver_files, f, read_driver_files(t)); }},
  }};
  return table;
}

// What the answers print must be UTF-8; other bytes become question marks.
std::string as_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = base::utf8_length(bytes);
    if (length == 0) {
      text += '?';
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

void read_text(const std::string& name, std::string_view bytes, Dump& dump) {
  const std::string file = as_utf8(name);
  const std::string text = as_utf8(bytes);
  const auto kind =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind& one) { return one.is(text); });
  if (kind == kinds().end()) {
    dump.left_out.emplace_back(file, "of no kind that is known");
    return;
  }
  try {
    if (kind->is_lines && !text.ends_with('\n')) {
      throw Error(ExitCode::kUsage, "ends within a line: is it cut off?");
    }
    kind->read(file, text, dump);
    dump.files.emplace_back(file, kind->title);
  } catch (const Error& error) {
    dump.left_out.emplace_back(file, std::string(kind->title) + ": " + error.what());
  }
}

void read_folder(const fs::path& folder, Dump& dump) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    try {
      read_text(name, base::read_file(path.string(), ExitCode::kUsage, kMaxFileBytes), dump);
    } catch (const Error& failure) {
      dump.left_out.emplace_back(name, failure.what());
    }
  }
}

// Trees in the order in which they are believed, with what other files say about their devices.
void join(Dump& dump) {
  std::stable_sort(dump.trees.begin(), dump.trees.end(),
                   [](const PciTree& a, const PciTree& b) { return a.source < b.source; });
  for (PciTree& tree : dump.trees) {
    if (tree.source != TreeSource::kLspci) continue;
    if (dump.lspci_listing) join_listing(dump.lspci_listing->content, tree);
    if (!dump.numactl) continue;
    for (const NumactlNode& node : dump.numactl->content) {
      if (!node.cpus.empty()) tree.numa_nodes.push_back(node.id);
    }
  }
}

// As nvidia-smi nvlink -R prints them; nothing when a GPU does not tell.
std::optional<FromFile<std::vector<NvlinkGpu>>> nvlinks_of(const Host& host, const Nvml& nvml) {
  constexpr const char* kHiddenSwitch = "FFFFFFFF:FF:FF.0";
  FromFile<std::vector<NvlinkGpu>> all{"NVML", {}};
  for (const Gpu& gpu : host.gpus) {
    const auto device = nvml.device_by_uuid(gpu.uuid);
    if (!device.has_value()) return {};
    const auto links = device.value->nvlinks();
    if (!links.has_value()) return {};
    NvlinkGpu one;
    one.index = static_cast<int>(all.content.size());
    one.name = gpu.name;
    one.active = static_cast<int>(links.value->size());
    for (const NvmlLink& link : *links.value) {
      one.remotes.push_back(link.is_switch ? kHiddenSwitch : link.partner);
    }
    all.content.push_back(std::move(one));
  }
  if (all.content.empty()) return {};
  return all;
}

[[noreturn]] void refuse(const std::string& path, const Dump& dump) {
  std::string why;
  for (const auto& [name, reason] : dump.left_out) {
    why.append("\n  ").append(name).append(": ").append(reason);
  }
  throw Error(ExitCode::kUsage, base::printable(path, 400) + ": nothing in it describes a machine" +
                                    why + "\nAccepted: " + accepted_files());
}

}  // namespace

std::string accepted_files() {
  std::vector<std::string> titles;
  for (const Kind& kind : kinds()) titles.emplace_back(kind.title);
  return base::join(titles, ", ") + "; a folder of such files, or one with a sysfs tree";
}

Dump read_dump(const std::string& path) {
  Dump dump;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    if (fs::is_directory(path + "/sys", ignored)) {
      add_root("sys", Root(path), dump);
      dump.files.emplace_back("sys", "sysfs tree");
    }
    read_folder(path, dump);
  } else {
    read_text(fs::path(path).filename().string(),
              base::read_file(path, ExitCode::kUsage, kMaxFileBytes), dump);
  }
  if (dump.files.empty()) refuse(path, dump);
  join(dump);
  return dump;
}

Dump read_this_host(const Root& root, Host host, const Nvml* nvml) {
  Dump dump;
  add_root("/sys", root, dump);
  dump.files.emplace_back("/sys", "sysfs of this host");
  dump.sysfs->content.container = host.container;
  if (host.driver.has_value()) dump.files.emplace_back("NVML", "driver of this host");
  if (nvml != nullptr) dump.nvlink_remotes = nvlinks_of(host, *nvml);
  dump.host = std::move(host);
  join(dump);
  return dump;
}

}  // namespace falcon::platform
