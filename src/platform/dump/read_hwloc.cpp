#include "platform/dump/read_hwloc.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"
#include "platform/dump/bit_mask.h"
#include "platform/dump/lines.h"
#include "platform/dump/read_sysfs.h"
#include "platform/dump/xml.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

struct Place {
  std::string root;
  std::vector<std::string> bridges;
  std::vector<int> nodes;
};

// "0302 [10de:1db8] [10de:131d] a1 00"
void take_type(const std::string& text, PciDevice& device) {
  unsigned device_class = 0;
  unsigned vendor = 0;
  unsigned number = 0;
  if (std::sscanf(text.c_str(), "%4x [%4x:%4x]", &device_class, &vendor, &number) != 3) return;
  if (device_class == 0 && vendor == 0) return;  // hwloc could not read this one
  device.class_code = static_cast<int>(device_class << 8);
  device.vendor = static_cast<int>(vendor);
  device.device = static_cast<int>(number);
}

class Reader {
 public:
  HwlocMachine read(pugi::xml_node topology) {
    machine_.tree.source = TreeSource::kHwloc;
    walk(topology, {});
    take_informations(topology);
    for (const HwlocNode& node : machine_.nodes) {
      if (!node.cpus.empty()) machine_.tree.numa_nodes.push_back(node.id);
    }
    machine_.hypervisor = hypervisor_of(vendor_, product_);
    take_nvlink(topology);
    return std::move(machine_);
  }

 private:
  void walk(pugi::xml_node parent, const Place& place) {
    for (const pugi::xml_node object : parent.children("object")) {
      const std::string type = attribute(object, "type");
      Place inside = place;
      if (object.attribute("nodeset")) inside.nodes = bits_of(attribute(object, "nodeset"));
      if (type == "NUMANode") take_node(object);
      if (type == "Bridge" || type == "PCIDev") take_device(object, type, inside);
      if (type == "OSDev") take_os_device(object, parent);
      take_informations(object);
      walk(object, inside);
    }
  }

  void take_informations(pugi::xml_node object) {
    for (const pugi::xml_node info : object.children("info")) {
      const std::string name = attribute(info, "name");
      if (name == "Architecture") machine_.tree.architecture = attribute(info, "value");
      if (name == "DMISysVendor") vendor_ = attribute(info, "value");
      if (name == "DMIProductName") product_ = attribute(info, "value");
    }
  }

  void take_node(pugi::xml_node object) {
    HwlocNode node;
    node.id = object.attribute("os_index").as_int();
    node.cpus = bits_of(attribute(object, "cpuset"));
    node.memory_bytes = object.attribute("local_memory").as_llong();
    machine_.nodes.push_back(std::move(node));
  }

  // A host bridge has only the range of its buses; its place is named by it.
  void take_device(pugi::xml_node object, const std::string& type, Place& place) {
    const std::string address = normal_pci_address(attribute(object, "pci_busid"));
    if (address.empty()) {
      place.root = "hb:" + attribute(object, "bridge_pci");
      return;
    }
    PciDevice device;
    device.address = address;
    device.root = place.root;
    device.bridges = place.bridges;
    device.numa_nodes = place.nodes;
    take_type(attribute(object, "pci_type"), device);
    device.kind = attribute(object, "subtype") == "NVSwitch"
                      ? DeviceKind::kNvSwitch
                      : kind_of(device.class_code, device.vendor);
    if (type == "Bridge") {
      device.kind = DeviceKind::kBridge;
      place.bridges.push_back(address);
    }
    const double rate = object.attribute("pci_link_speed").as_double();
    if (rate > 0) device.link_gb_per_s = rate;
    for (const pugi::xml_node info : object.children("info")) {
      if (attribute(info, "name") == "PCIDevice") device.name = attribute(info, "value");
    }
    by_number_[attribute(object, "gp_index")] = address;
    machine_.tree.devices.push_back(std::move(device));
  }

  void take_os_device(pugi::xml_node object, pugi::xml_node parent) {
    const std::string address = normal_pci_address(attribute(parent, "pci_busid"));
    by_number_[attribute(object, "gp_index")] = address;
    const std::string kind = attribute(object, "subtype");
    // A GPU that is nowhere on PCI: the file does not show all devices there.
    if (address.empty() && (kind == "CUDA" || kind == "NVML")) machine_.tree.tells_kinds = false;
    for (PciDevice& device : machine_.tree.devices) {
      if (address.empty() || device.address != address) continue;
      device.os_devices.push_back(attribute(object, "name"));
      // The product, where the device itself is named by its chip.
      for (const pugi::xml_node info : object.children("info")) {
        if (attribute(info, "name") == "GPUModel") device.name = attribute(info, "value");
      }
    }
  }

  // Links between GPUs and NVSwitches are a matrix of bandwidths (MB/s), row by row.
  void take_nvlink(pugi::xml_node topology) {
    for (const char* kind : {"distances2hetero", "distances2"}) {
      for (const pugi::xml_node matrix : topology.children(kind)) {
        if (attribute(matrix, "name") == "NVLinkBandwidth") take_matrix(matrix);
      }
    }
  }

  void take_matrix(pugi::xml_node matrix) {
    std::vector<std::string> addresses;
    for (const pugi::xml_node part : matrix.children("indexes")) {
      for (const std::string& word : words_of(part.text().as_string())) {
        addresses.push_back(by_number_[word.substr(word.find(':') + 1)]);
      }
    }
    std::vector<double> rates;
    for (const pugi::xml_node part : matrix.children("u64values")) {
      for (const std::string& word : words_of(part.text().as_string())) {
        rates.push_back(leading_real(word).value_or(0));
      }
    }
    if (addresses.empty() || rates.size() != addresses.size() * addresses.size()) return;
    for (std::size_t from = 0; from < addresses.size(); ++from) {
      for (std::size_t to = 0; to < addresses.size(); ++to) {
        if (from != to)
          take_link(addresses[from], addresses[to], rates[from * addresses.size() + to]);
      }
    }
    machine_.tree.tells_nvlink = true;
  }

  void take_link(const std::string& from, const std::string& to, double rate) {
    const PciDevice* gpu = machine_.tree.find(from);
    const PciDevice* partner = machine_.tree.find(to);
    if (gpu == nullptr || gpu->kind != DeviceKind::kGpu || rate <= 0) return;
    NvlinkTarget target;
    target.gpu = from;
    target.target = to;
    target.links = static_cast<int>(std::lround(rate / rate_of_one_link(*gpu)));
    target.is_switch = partner != nullptr && partner->kind == DeviceKind::kNvSwitch;
    machine_.tree.nvlink.push_back(std::move(target));
  }

  // MB/s by NVLink generation, which the device numbers follow: Pascal, Volta to Hopper, Blackwell.
  static double rate_of_one_link(const PciDevice& gpu) {
    if (gpu.device >= 0x2900) return 50000;
    return gpu.device > 0 && gpu.device < 0x1d00 ? 20000 : 25000;
  }

  HwlocMachine machine_;
  std::string vendor_, product_;
  std::map<std::string, std::string> by_number_;  // address by gp_index
};

}  // namespace

HwlocMachine read_hwloc(std::string_view text) {
  pugi::xml_document document;
  parse_xml(text, document);
  return Reader().read(document.child("topology"));
}

}  // namespace falcon::platform
