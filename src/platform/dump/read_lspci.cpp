#include "platform/dump/read_lspci.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/dump/lines.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// NVIDIA's own numbers of NVSwitches: Volta, Ampere, Hopper (older lists of names do not know
// them).
bool is_nvswitch_number(int device) {
  return device == 0x1ac2 || device == 0x1af1 || device == 0x22a3;
}

DeviceKind kind_by_class_text(std::string_view device_class, bool is_nvidia) {
  if (has(device_class, "VGA compatible")) {
    return is_nvidia ? DeviceKind::kGpu : DeviceKind::kDisplay;
  }
  if (device_class.starts_with("3D controller")) {
    return is_nvidia ? DeviceKind::kGpu : DeviceKind::kAccelerator;
  }
  if (device_class.starts_with("Processing accelerators")) return DeviceKind::kAccelerator;
  if (device_class.starts_with("Non-Volatile memory")) return DeviceKind::kNvme;
  if (device_class.starts_with("RAID")) return DeviceKind::kRaid;
  if (device_class.starts_with("Ethernet") || device_class.starts_with("Infiniband") ||
      device_class.starts_with("InfiniBand")) {
    return DeviceKind::kNic;
  }
  if (device_class.starts_with("PCI bridge")) return DeviceKind::kBridge;
  if (device_class.starts_with("Bridge") && is_nvidia) return DeviceKind::kNvSwitch;
  return DeviceKind::kOther;
}

int hexadecimal(std::string_view text) {
  return static_cast<int>(std::strtol(std::string(text).c_str(), nullptr, 16));
}

// "[10de:26b1]" of -nn, "Device 26b1" where the list of names does not know the number.
void take_numbers(std::string_view name, PciDevice& device) {
  for (std::size_t at = name.find('['); at != std::string_view::npos; at = name.find('[', at + 1)) {
    const std::string_view pair = name.substr(at + 1, 9);
    if (pair.size() != 9 || name.size() < at + 11 || name[at + 10] != ']' || pair[4] != ':')
      continue;
    if (pair.find_first_not_of("0123456789abcdefABCDEF:") != std::string_view::npos) continue;
    device.vendor = hexadecimal(pair.substr(0, 4));
    device.device = hexadecimal(pair.substr(5));
  }
  const std::size_t number = name.rfind("Device ");
  if (device.device < 0 && number != std::string_view::npos) {
    const std::string_view digits = name.substr(number + 7, 4);
    if (digits.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
      device.device = hexadecimal(digits);
    }
  }
}

// The tree names no class: what a device is follows from its vendor, its function and its name.
DeviceKind kind_by_name(const PciDevice& device) {
  const std::string& name = device.name;
  if (name.starts_with("NVIDIA Corporation")) {
    if (has(name, "NVSwitch") || is_nvswitch_number(device.device)) return DeviceKind::kNvSwitch;
    for (const char* part : {"Audio", "USB", "UCSI", "Bridge", "bridge", "Ethernet", "Serial"}) {
      if (has(name, part)) return DeviceKind::kOther;
    }
    return device.address.ends_with(".0") ? DeviceKind::kGpu : DeviceKind::kOther;
  }
  if (has(name, "RAID")) return DeviceKind::kRaid;
  if (has(name, "NVMe") || has(name, "Non-Volatile") || has(name, " SSD "))
    return DeviceKind::kNvme;
  for (const char* part : {"Ethernet", "ConnectX", "InfiniBand", "Infiniband", "Network Adapter"}) {
    if (has(name, part)) return DeviceKind::kNic;
  }
  if (has(name, "Graphics Family") || has(name, "MGA G200")) return DeviceKind::kDisplay;
  return DeviceKind::kOther;
}

// One line of the tree, read from left to right. Columns of a line that begin with blanks and bars
// continue what stands above them.
class TreeReader {
 public:
  explicit TreeReader(PciTree& tree) : tree_(tree) {}

  void read(const std::string& line) {
    const std::size_t begin = line.find_first_not_of(" |");
    if (begin == std::string::npos) return;
    while (!open_.empty() && open_.back().column >= begin) open_.pop_back();
    std::size_t at = begin;
    while (at < line.size()) at = step(line, at);
  }

 private:
  struct Bus {
    std::size_t column;  // left of all its entries
    std::string root;    // of the root complex
    std::string domain_and_bus;
    std::vector<std::string> bridges;
  };

  [[noreturn]] static void refuse(const std::string& line) {
    throw Error(ExitCode::kUsage, "no line of a tree of lspci: " + base::printable(line));
  }

  // Returns where to go on.
  std::size_t step(const std::string& line, std::size_t at) {
    const std::size_t entry = line.find_first_not_of("-+\\", at);
    if (entry == std::string::npos) return line.size();  // an empty bus
    return line[entry] == '[' ? open_bus(line, entry) : read_function(line, entry);
  }

  // "[0000:60]" is a root complex, "[61-73]" the buses behind the bridge before it.
  std::size_t open_bus(const std::string& line, std::size_t bracket) {
    const std::size_t end = line.find(']', bracket);
    if (end == std::string::npos) refuse(line);
    const std::string inside = line.substr(bracket + 1, end - bracket - 1);
    if (inside.find(':') != std::string::npos) {
      std::string name = inside.substr(0, inside.find('-'));
      if (normal_pci_address(name + ":00.0").empty()) refuse(line);
      open_.push_back({end + 1, name, name, {}});
    } else {
      if (bridge_.empty() || open_.empty()) refuse(line);
      Bus bus = open_.back();
      bus.domain_and_bus = bus.root.substr(0, bus.root.find(':') + 1) + inside.substr(0, 2);
      bus.bridges.push_back(bridge_);
      bus.column = end + 1;
      open_.push_back(std::move(bus));
    }
    return end + 1;
  }

  // "01.1" or "01.1-[..." or "00.0  NVIDIA Corporation ..."
  std::size_t read_function(const std::string& line, std::size_t at) {
    if (open_.empty() || at + 4 > line.size()) refuse(line);
    PciDevice device;
    device.address = normal_pci_address(open_.back().domain_and_bus + ":" + line.substr(at, 4));
    if (device.address.empty()) refuse(line);
    device.root = open_.back().root;
    device.bridges = open_.back().bridges;
    const std::string_view rest = std::string_view(line).substr(at + 4);
    const bool is_bridge = rest.starts_with("-[");
    bridge_ = is_bridge ? device.address : "";
    if (is_bridge) {
      device.kind = DeviceKind::kBridge;
    } else {
      device.name = base::trim(rest);
      take_numbers(device.name, device);
      device.kind = kind_by_name(device);
    }
    tree_.devices.push_back(std::move(device));
    return is_bridge ? at + 4 : line.size();
  }

  PciTree& tree_;
  std::vector<Bus> open_;
  std::string bridge_;
};

// Without "ADDRESS | " before a line.
std::string_view without_prefix(std::string_view line) {
  const std::size_t bar = line.find(" | ");
  if (bar != std::string_view::npos &&
      !normal_pci_address(std::string(line.substr(0, bar))).empty()) {
    return line.substr(bar + 3);
  }
  return line;
}

// "01:00.0 VGA compatible controller [0300]: NVIDIA ..." begins a device.
std::optional<PciDevice> device_line(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return {};
  const std::string_view head = line.substr(0, blank);
  PciDevice device;
  if (!has(head, ".")) return {};
  device.address = normal_pci_address(std::string(head));
  const std::size_t colon = line.find(": ", blank);
  if (device.address.empty() || colon == std::string_view::npos) return {};
  const std::string_view device_class = line.substr(blank + 1, colon - blank - 1);
  // All classes that pci.ids knows begin so ("3D controller"); prose does not.
  if (device_class.empty() || device_class.front() < '0' || device_class.front() > 'Z') return {};
  device.name = base::trim(line.substr(colon + 2, line.find(" (rev", colon) - colon - 2));
  take_numbers(device.name, device);
  device.kind = kind_by_class_text(device_class, device.name.starts_with("NVIDIA Corporation"));
  return device;
}

// "LnkCap: Port #0, Speed 16GT/s, Width x16, ..." -> "16GT/s", 16; "(downgraded)" is kept.
void take_link(std::string_view line, std::string& speed, std::optional<int>& width) {
  for (const std::string& part : base::split(line, ',')) {
    const std::size_t speed_at = part.find("Speed ");
    const std::size_t width_at = part.find("Width x");
    if (speed_at != std::string::npos) {
      const std::string text(base::trim(std::string_view(part).substr(speed_at + 6)));
      if (pcie_generation(text.substr(0, text.find(' '))).has_value()) speed = text;
    }
    if (width_at != std::string::npos) width = leading_number(part.substr(width_at + 7));
  }
}

}  // namespace

bool begins_lspci_tree(std::string_view line) {
  return (line.starts_with("-[") || line.starts_with("-+-[")) && has(line, "]-");
}

PciTree read_lspci_tree(std::string_view text) {
  PciTree tree;
  tree.source = TreeSource::kLspci;
  TreeReader reader(tree);
  for (const std::string& line : clean_lines(text)) {
    if (base::trim(line).empty()) continue;
    const bool continues = line.front() == ' ' || line.front() == '\t';
    if (!tree.devices.empty() && !continues) break;  // a prompt or a title: the tree has ended
    reader.read(line);
  }
  // `lspci -t` alone has no names.
  tree.tells_kinds = std::any_of(tree.devices.begin(), tree.devices.end(),
                                 [](const PciDevice& device) { return !device.name.empty(); });
  return tree;
}

bool begins_lspci_listing(std::string_view line) {
  return device_line(without_prefix(line)).has_value();
}

PciTree read_lspci_listing(std::string_view text) {
  PciTree tree;
  tree.source = TreeSource::kLspci;
  bool is_in_device = false;
  for (const std::string& raw : clean_lines(text)) {
    const std::string_view line = without_prefix(raw);
    if (auto device = device_line(line)) {
      // Who selects GPUs, drives or bridges does not select these.
      tree.lists_all_kinds = tree.lists_all_kinds || has(line, " Host bridge");
      tree.devices.push_back(*std::move(device));
      is_in_device = true;
      continue;
    }
    // What is known of a device is indented, or has its prefix; other text may be about another.
    if (line.size() == raw.size() && !line.empty() && indentation(line) == 0) is_in_device = false;
    if (!is_in_device) continue;
    PciDevice& device = tree.devices.back();
    const std::string_view bare = base::trim(line);
    if (bare.starts_with("NUMA node: ")) device.numa_node = leading_number(bare.substr(11));
    if (bare.starts_with("LnkCap:")) take_link(bare, device.max_speed, device.max_width);
    if (bare.starts_with("LnkSta:")) take_link(bare, device.speed, device.width);
  }
  return tree;
}

void join_listing(const PciTree& listing, PciTree& tree) {
  bool has_all = true;
  for (PciDevice& device : tree.devices) {
    const PciDevice* listed = listing.find(device.address);
    if (listed == nullptr) {
      has_all = has_all && device.kind == DeviceKind::kBridge;
      continue;
    }
    if (device.name.empty()) device.name = listed->name;
    if (device.kind != DeviceKind::kBridge) device.kind = listed->kind;
    device.numa_node = listed->numa_node;
    device.speed = listed->speed;
    device.max_speed = listed->max_speed;
    device.width = listed->width;
    device.max_width = listed->max_width;
    if (device.vendor < 0) device.vendor = listed->vendor;
    if (device.device < 0) device.device = listed->device;
  }
  tree.tells_kinds = tree.tells_kinds || has_all;
}

bool begins_access_control(std::string_view line) {
  return base::trim(without_prefix(line)).starts_with("ACSCtl:");
}

std::optional<AccessControl> read_access_control(std::string_view text) {
  AccessControl control;
  for (const std::string& raw : clean_lines(text)) {
    const std::string_view line = base::trim(without_prefix(raw));
    if (!line.starts_with("ACSCtl:")) continue;
    ++control.lines;
    for (const std::string& bit : words_of(line.substr(7))) {
      if (!bit.ends_with("+")) continue;
      const std::string name = bit.substr(0, bit.size() - 1);
      const auto known = std::find_if(control.bits_on.begin(), control.bits_on.end(),
                                      [&](const auto& one) { return one.first == name; });
      if (known == control.bits_on.end()) {
        control.bits_on.emplace_back(name, 1);
      } else {
        ++known->second;
      }
    }
  }
  if (control.lines == 0) return {};
  return control;
}

}  // namespace falcon::platform
