#include "platform/dump/read_nccl.h"

#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "falconbench/errors.h"
#include "platform/dump/bit_mask.h"
#include "platform/dump/lines.h"
#include "platform/dump/xml.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

int hexadecimal(const std::string& text) {
  return text.empty() ? -1 : static_cast<int>(std::strtol(text.c_str(), nullptr, 16));
}

struct Place {
  int numa_node = -1;
  std::string cpus;
  std::vector<std::string> switches;
};

class Reader {
 public:
  PciTree read(pugi::xml_node system) {
    tree_.source = TreeSource::kNccl;
    tree_.shows_bridge_ports = false;
    std::set<std::string> hosts;
    for (const pugi::xml_node cpu : system.children("cpu")) {
      hosts.insert(attribute(cpu, "host_hash"));
      if (hosts.size() > 1) throw Error(ExitCode::kUsage, "describes several hosts");
      Place place;
      place.numa_node = cpu.attribute("numaid").as_int(-1);
      place.cpus = list_text(bits_of(attribute(cpu, "affinity")));
      if (place.numa_node >= 0) tree_.numa_nodes.push_back(place.numa_node);
      tree_.architecture = attribute(cpu, "arch");
      walk(cpu, place);
    }
    keep_real_gpus();
    judge_nvlink();
    return std::move(tree_);
  }

 private:
  void walk(pugi::xml_node parent, const Place& place) {
    for (const pugi::xml_node pci : parent.children("pci")) {
      PciDevice device = read_device(pci, place);
      Place inside = place;
      if (pci.child("pci")) {
        device.kind = DeviceKind::kBridge;
        inside.switches.push_back(device.address);
      }
      tree_.tells_kinds = tree_.tells_kinds && (device.class_code >= 0 || pci.child("pci") ||
                                                device.kind == DeviceKind::kGpu);
      if (device.kind != DeviceKind::kBridge || pci.child("pci")) {
        tree_.devices.push_back(std::move(device));
        tree_.nccl_devices.push_back(pci.child("gpu").attribute("dev").as_int(-1));
      }
      walk(pci, inside);
    }
  }

  PciDevice read_device(pugi::xml_node pci, const Place& place) {
    PciDevice device;
    device.address = normal_pci_address(attribute(pci, "busid"));
    if (device.address.empty()) device.address = attribute(pci, "busid");
    device.bridges = place.switches;
    device.class_code = hexadecimal(attribute(pci, "class"));
    device.vendor = hexadecimal(attribute(pci, "vendor"));
    device.device = hexadecimal(attribute(pci, "device"));
    device.kind = kind_of(device.class_code, device.vendor);
    // Files written by hand leave the vendor out.
    if (device.vendor < 0 && device.class_code >> 16 == 0x03) device.kind = DeviceKind::kGpu;
    device.numa_node = place.numa_node;
    device.cpus = place.cpus;
    device.speed = attribute(pci, "link_speed");
    if (const int width = pci.attribute("link_width").as_int(); width > 0) device.width = width;
    for (const pugi::xml_node net : pci.child("nic").children("net")) {
      device.os_devices.push_back(attribute(net, "name"));
    }
    if (const pugi::xml_node gpu = pci.child("gpu")) {
      device.kind = DeviceKind::kGpu;
      has_gpu_elements_ = true;
      is_dump_ = is_dump_ || device.vendor >= 0;
      take_nvlink(gpu, device.address);
    }
    return device;
  }

  void take_nvlink(pugi::xml_node gpu, const std::string& address) {
    constexpr const char* kSwitchClass = "0x068000";
    for (const pugi::xml_node link : gpu.children("nvlink")) {
      NvlinkTarget target;
      target.gpu = address;
      target.target = attribute(link, "target");
      if (const std::string normal = normal_pci_address(target.target); !normal.empty()) {
        target.target = normal;
      }
      target.links = link.attribute("count").as_int(-1);
      target.is_switch = attribute(link, "tclass") == kSwitchClass;
      tree_.nvlink.push_back(std::move(target));
    }
  }

  // A dump marks the GPUs that take part; a display adapter beside them is none of those.
  void keep_real_gpus() {
    if (!has_gpu_elements_) return;
    for (std::size_t i = 0; i < tree_.devices.size(); ++i) {
      PciDevice& device = tree_.devices[i];
      if (device.kind == DeviceKind::kGpu && tree_.nccl_devices[i] < 0) {
        device.kind = DeviceKind::kOther;
      }
    }
  }

  // NCCL itself finds out what a file that was written by hand leaves out; what it dumps has the
  // vendor of every device and all links.
  void judge_nvlink() {
    tree_.tells_nvlink = is_dump_ || !tree_.nvlink.empty();
    for (const NvlinkTarget& link : tree_.nvlink) {
      if (link.links < 0) tree_.tells_nvlink = false;  // not as NCCL writes it
    }
    if (!tree_.tells_nvlink) tree_.nvlink.clear();
  }

  PciTree tree_;
  bool has_gpu_elements_ = false;
  bool is_dump_ = false;
};

}  // namespace

PciTree read_nccl(std::string_view text) {
  pugi::xml_document document;
  parse_xml(text, document);
  return Reader().read(document.child("system"));
}

}  // namespace falcon::platform
