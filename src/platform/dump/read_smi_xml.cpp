#include <cstring>
#include <set>

#include "platform/dump/lines.h"
#include "platform/dump/read_smi_query.h"
#include "platform/dump/xml.h"

namespace falcon::platform {
namespace {

Printed first_text(pugi::xml_node gpu, std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    if (Printed text = element_text(gpu, path)) return text;
  }
  return {};
}

SmiMigDevice mig_device(pugi::xml_node node) {
  return {element_text(node, "index"), element_text(node, "gpu_instance_id"),
          element_text(node, "compute_instance_id"), element_text(node, "fb_memory_usage/total"),
          element_text(node, "device_attributes/shared/multiprocessor_count")};
}

SmiGpu gpu_of(pugi::xml_node node) {
  SmiGpu gpu;
  gpu.bus_id = element_text(node, "pci/pci_bus_id").value_or(attribute(node, "id"));
  gpu.name = element_text(node, "product_name");
  gpu.uuid = element_text(node, "uuid");
  gpu.persistence = element_text(node, "persistence_mode");
  gpu.mig = element_text(node, "mig_mode/current_mig");
  gpu.pstate = element_text(node, "performance_state");
  gpu.gen_max = element_text(node, "pci/pci_gpu_link_info/pcie_gen/max_link_gen");
  gpu.gen_cur = element_text(node, "pci/pci_gpu_link_info/pcie_gen/current_link_gen");
  gpu.device_max = element_text(node, "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen");
  gpu.host_max = element_text(node, "pci/pci_gpu_link_info/pcie_gen/max_host_link_gen");
  gpu.width_max = element_text(node, "pci/pci_gpu_link_info/link_widths/max_link_width");
  gpu.width_cur = element_text(node, "pci/pci_gpu_link_info/link_widths/current_link_width");
  gpu.ecc = element_text(node, "ecc_mode/current_ecc");
  gpu.power_limit =
      first_text(node, {"gpu_power_readings/current_power_limit", "gpu_power_readings/power_limit",
                        "power_readings/current_power_limit", "power_readings/power_limit"});
  gpu.power_limit_default = first_text(
      node, {"gpu_power_readings/default_power_limit", "power_readings/default_power_limit"});
  gpu.utilization = element_text(node, "utilization/gpu_util");
  gpu.virtualization = element_text(node, "gpu_virtualization_mode/virtualization_mode");
  for (const pugi::xml_node one : node.child("mig_devices").children("mig_device")) {
    gpu.mig_devices.push_back(mig_device(one));
  }
  return gpu;
}

bool is_absent(const char* text) {
  return std::strcmp(text, "N/A") == 0 ||
         std::strcmp(text, "Requested functionality has been deprecated") == 0;
}

void collect_absent(pugi::xml_node node, std::set<std::string>& names) {
  for (const pugi::xml_node child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    if (is_absent(child.text().as_string())) names.insert(child.name());
    collect_absent(child, names);
  }
}

// Elements of a GPU that were renamed between generations of drivers.
void take_tags(pugi::xml_node gpu, SmiReport& report) {
  for (const char* name : {"clocks_event_reasons", "clocks_throttle_reasons"}) {
    if (!report.throttle_tag && gpu.child(name)) report.throttle_tag = name;
  }
  for (const char* name : {"gpu_power_readings", "power_readings"}) {
    if (gpu.child(name)) report.power_tags.emplace_back(name);
  }
}

}  // namespace

SmiReport read_smi_xml(std::string_view text) {
  pugi::xml_document document;
  parse_xml(text, document);
  const pugi::xml_node log = document.child("nvidia_smi_log");
  SmiReport report;
  report.driver = element_text(log, "driver_version");
  report.cuda = element_text(log, "cuda_version");
  if (const Printed attached = element_text(log, "attached_gpus")) {
    report.attached = leading_number(*attached);
  }
  std::set<std::string> absent;
  for (const pugi::xml_node gpu : log.children("gpu")) {
    if (report.gpus.empty()) take_tags(gpu, report);
    report.gpus.push_back(gpu_of(gpu));
    collect_absent(gpu, absent);
  }
  report.na_tags.assign(absent.begin(), absent.end());
  return report;
}

}  // namespace falcon::platform
