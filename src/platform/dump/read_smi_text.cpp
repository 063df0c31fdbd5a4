#include <map>
#include <utility>

#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/dump/lines.h"
#include "platform/dump/read_smi_query.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

// Keys joined by slashes, as labels such as "Current" and "Max" stand in many sections.
using Fields = std::map<std::string, std::string>;

Printed first_of(const Fields& fields, std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    if (const auto found = fields.find(path); found != fields.end()) return found->second;
  }
  return {};
}

struct Section {
  std::size_t indent;
  std::string name;
};

// Sections of a GPU by their indentation; a "MIG Device" section begins a set of fields of its own.
class GpuFields {
 public:
  void read(const std::string& line) {
    const std::size_t indent = indentation(line);
    if (indent >= line.size()) return;
    while (!open_.empty() && open_.back().indent >= indent) open_.pop_back();
    const auto pair = key_and_value(line);
    if (!pair || pair->first.empty()) {
      const std::string name(base::trim(line));
      if (name == "MIG Device") {
        mig_devices.emplace_back();
        mig_depth_ = open_.size();
      }
      open_.push_back({indent, name});
      return;
    }
    const bool is_of_mig =
        !mig_devices.empty() && open_.size() > mig_depth_ && open_[mig_depth_].name == "MIG Device";
    std::string path;
    for (std::size_t i = is_of_mig ? mig_depth_ + 1 : 0; i < open_.size(); ++i) {
      path += open_[i].name + "/";
    }
    (is_of_mig ? mig_devices.back() : fields).emplace(path + pair->first, pair->second);
  }

  Fields fields;
  std::vector<Fields> mig_devices;

 private:
  std::vector<Section> open_;
  std::size_t mig_depth_ = 0;
};

SmiMigDevice mig_device(const Fields& fields) {
  return {first_of(fields, {"Index"}), first_of(fields, {"GPU Instance ID"}),
          first_of(fields, {"Compute Instance ID"}), first_of(fields, {"FB Memory Usage/Total"}),
          first_of(fields, {"Device Attributes/Shared/Multiprocessor count"})};
}

SmiGpu gpu_of(const std::string& bus_id, const GpuFields& read) {
  const Fields& fields = read.fields;
  SmiGpu gpu;
  gpu.bus_id = bus_id;
  gpu.name = first_of(fields, {"Product Name"});
  gpu.uuid = first_of(fields, {"GPU UUID"});
  gpu.persistence = first_of(fields, {"Persistence Mode"});
  gpu.mig = first_of(fields, {"MIG Mode/Current"});
  gpu.pstate = first_of(fields, {"Performance State"});
  gpu.gen_max = first_of(fields, {"PCI/GPU Link Info/PCIe Generation/Max"});
  gpu.gen_cur = first_of(fields, {"PCI/GPU Link Info/PCIe Generation/Current"});
  gpu.device_max = first_of(fields, {"PCI/GPU Link Info/PCIe Generation/Device Max"});
  gpu.host_max = first_of(fields, {"PCI/GPU Link Info/PCIe Generation/Host Max"});
  gpu.width_max = first_of(fields, {"PCI/GPU Link Info/Link Width/Max"});
  gpu.width_cur = first_of(fields, {"PCI/GPU Link Info/Link Width/Current"});
  gpu.ecc = first_of(fields, {"ECC Mode/Current", "Ecc Mode/Current"});
  gpu.power_limit =
      first_of(fields, {"GPU Power Readings/Current Power Limit", "GPU Power Readings/Power Limit",
                        "Power Readings/Current Power Limit", "Power Readings/Power Limit"});
  gpu.power_limit_default = first_of(
      fields, {"GPU Power Readings/Default Power Limit", "Power Readings/Default Power Limit"});
  gpu.utilization = first_of(fields, {"Utilization/Gpu", "Utilization/GPU"});
  gpu.virtualization = first_of(fields, {"GPU Virtualization Mode/Virtualization Mode",
                                         "GPU Virtualization Mode/Virtualization mode"});
  for (const Fields& one : read.mig_devices) gpu.mig_devices.push_back(mig_device(one));
  return gpu;
}

// "GPU 00000000:68:00.0" in the first column.
std::string gpu_heading(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  if (words.size() != 2 || words[0] != "GPU" || indentation(line) > 0) return "";
  return normal_pci_address(words[1]).empty() ? "" : words[1];
}

}  // namespace

bool says_nothing(const Printed& value) {
  if (!value) return true;
  const std::string_view text = base::trim(*value);
  return text.empty() || text == "N/A" || text == "[N/A]" ||
         text.find("Not Supported") != std::string_view::npos || text.starts_with("Unknown") ||
         text.starts_with("[Unknown") || text.starts_with("Requested");
}

bool begins_smi_text(std::string_view line) {
  return line.find("==NVSMI LOG==") != std::string_view::npos;
}

SmiReport read_smi_text(std::string_view text) {
  SmiReport report;
  std::vector<std::pair<std::string, GpuFields>> gpus;
  for (const std::string& line : clean_lines(text)) {
    if (const std::string bus_id = gpu_heading(line); !bus_id.empty()) {
      gpus.emplace_back(bus_id, GpuFields());
    } else if (!gpus.empty()) {
      gpus.back().second.read(line);
    } else if (const auto pair = key_and_value(line)) {
      if (pair->first == "Driver Version") report.driver = pair->second;
      if (pair->first == "CUDA Version") report.cuda = pair->second;
      if (pair->first == "Attached GPUs") report.attached = leading_number(pair->second);
    }
  }
  if (gpus.empty()) throw Error(ExitCode::kUsage, "describes no GPU: is it cut off?");
  // A GPU has the sections of the first one; the last may be cut off between two lines.
  constexpr std::size_t kMayDiffer = 24;  // processes and MIG devices come and go
  if (gpus.size() > 1 &&
      gpus.back().second.fields.size() + kMayDiffer < gpus.front().second.fields.size()) {
    throw Error(ExitCode::kUsage,
                "the last GPU has far fewer fields than the first: is it cut off?");
  }
  for (const auto& [bus_id, fields] : gpus) report.gpus.push_back(gpu_of(bus_id, fields));
  return report;
}

}  // namespace falcon::platform
