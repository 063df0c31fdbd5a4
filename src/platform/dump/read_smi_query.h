// What `nvidia-smi -q` says, as text or (-x) XML. Values stay as they are printed: "16x", "N/A".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace falcon::platform {

using Printed = std::optional<std::string>;  // nothing: the output does not have it

struct SmiMigDevice {
  Printed index, gpu_instance, compute_instance, memory_total, multiprocessors;
};

struct SmiGpu {
  std::string bus_id;
  Printed name, uuid, persistence, mig, pstate, gen_max, gen_cur, device_max, host_max;
  Printed width_max, width_cur, ecc, power_limit, power_limit_default, utilization, virtualization;
  std::vector<SmiMigDevice> mig_devices;
};

struct SmiReport {
  Printed driver, cuda;
  std::optional<int> attached;
  std::vector<SmiGpu> gpus;
  // Of XML only: names of elements, which changed between driver generations.
  Printed throttle_tag;
  std::vector<std::string> power_tags;
  std::vector<std::string> na_tags;  // elements that say there is no value, sorted
};

bool begins_smi_text(std::string_view line);
/// Throws Error(kUsage) when there is no GPU or the last one is cut off.
SmiReport read_smi_text(std::string_view text);

/// Throws Error(kUsage) when it is not whole XML.
SmiReport read_smi_xml(std::string_view text);

/// The table that nvidia-smi prints without options. Throws Error(kUsage) when it is cut off.
bool begins_smi_table(std::string_view line);
SmiReport read_smi_table(std::string_view text);

/// "N/A", "[N/A]", "Not Supported" and kin say that there is no value.
bool says_nothing(const Printed& value);

}  // namespace falcon::platform
