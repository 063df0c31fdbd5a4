#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "platform/nvml.h"
#include "platform/nvml_functions.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

// nvmlValueType_t
double field_number(const nvml::FieldValue& value) {
  switch (value.type) {
    case 0:
      return value.data.real;
    case 1:
      return value.data.natural;
    case 2:
      return static_cast<double>(value.data.natural_long);
    case 3:
      return static_cast<double>(value.data.natural_64);
    case 4:
      return static_cast<double>(value.data.integer_64);
    case 5:
      return value.data.integer;
    default:
      return value.data.natural_16;
  }
}

template <class T, class From, class Convert>
NvmlResult<T> converted(const NvmlResult<From>& from, Convert convert) {
  if (!from.has_value()) return {{}, from.code, from.reason};
  return {convert(*from), from.code, ""};
}

NvmlResult<int> whole(const NvmlResult<unsigned>& from) {
  return converted<int>(from, [](unsigned raw) { return static_cast<int>(raw); });
}

NvmlResult<double> scaled(const NvmlResult<unsigned>& from, double scale) {
  return converted<double>(from, [scale](unsigned raw) { return scale * raw; });
}

struct Text {
  char text[nvml::kTextSize] = {};
};

}  // namespace

// Calls a function of the table with the handle, the arguments and room for one result.
template <class Out, class Function, class... Arguments>
NvmlResult<Out> NvmlDevice::ask(Function NvmlFunctions::*function, const char* call,
                                Arguments... arguments) const {
  const std::lock_guard lock(library_->calls_mutex_);
  return ask_beside_others<Out>(function, call, arguments...);
}

template <class Out, class Function, class... Arguments>
NvmlResult<Out> NvmlDevice::ask_beside_others(Function NvmlFunctions::*function, const char* call,
                                              Arguments... arguments) const {
  Out out{};
  const Function pointer = library_->functions_.get()->*function;
  const nvml::Code code =
      pointer == nullptr ? nvml::kFunctionNotFound : pointer(handle_, arguments..., &out);
  if (code != nvml::kSuccess) return {{}, code, library_->failure(call, code)};
  return {std::move(out), code, ""};
}

NvmlResult<std::string> NvmlDevice::uuid() const {
  Text out;
  const auto function = library_->functions_->uuid;
  const nvml::Code code =
      function == nullptr ? nvml::kFunctionNotFound : function(handle_, out.text, sizeof out.text);
  if (code != nvml::kSuccess) return {{}, code, library_->failure("nvmlDeviceGetUUID", code)};
  return {std::string(out.text), code, ""};
}

NvmlResult<std::string> NvmlDevice::name() const {
  Text out;
  const auto function = library_->functions_->name;
  const nvml::Code code =
      function == nullptr ? nvml::kFunctionNotFound : function(handle_, out.text, sizeof out.text);
  if (code != nvml::kSuccess) return {{}, code, library_->failure("nvmlDeviceGetName", code)};
  return {std::string(out.text), code, ""};
}

NvmlResult<std::string> NvmlDevice::pci_address() const {
  const auto info = ask<nvml::PciInfo>(&NvmlFunctions::pci_info, "nvmlDeviceGetPciInfo_v3");
  return converted<std::string>(
      info, [](const nvml::PciInfo& raw) { return normal_pci_address(raw.bus_id); });
}

NvmlResult<std::string> NvmlDevice::compute_capability() const {
  int major = 0;
  int minor = 0;
  const auto function = library_->functions_->compute_capability;
  const nvml::Code code =
      function == nullptr ? nvml::kFunctionNotFound : function(handle_, &major, &minor);
  if (code != nvml::kSuccess) {
    return {{}, code, library_->failure("nvmlDeviceGetCudaComputeCapability", code)};
  }
  return {std::to_string(major) + "." + std::to_string(minor), code, ""};
}

NvmlResult<NvmlMemory> NvmlDevice::memory() const {
  nvml::MemoryV2 raw{};
  raw.version = nvml::kMemoryV2;
  if (const auto function = library_->functions_->memory_v2; function != nullptr) {
    const nvml::Code code = function(handle_, &raw);
    if (code == nvml::kSuccess) {
      return {NvmlMemory{static_cast<std::int64_t>(raw.total), static_cast<std::int64_t>(raw.used)},
              code, ""};
    }
    if (code == nvml::kGpuIsLost) {
      return {{}, code, library_->failure("nvmlDeviceGetMemoryInfo_v2", code)};
    }
  }
  const auto old = ask<nvml::Memory>(&NvmlFunctions::memory, "nvmlDeviceGetMemoryInfo");
  return converted<NvmlMemory>(old, [](const nvml::Memory& value) {
    return NvmlMemory{static_cast<std::int64_t>(value.total),
                      static_cast<std::int64_t>(value.used)};
  });
}

NvmlResult<NvmlUtilization> NvmlDevice::utilization() const {
  const auto rates =
      ask<nvml::Utilization>(&NvmlFunctions::utilization, "nvmlDeviceGetUtilizationRates");
  return converted<NvmlUtilization>(rates, [](const nvml::Utilization& raw) {
    return NvmlUtilization{static_cast<double>(raw.gpu), static_cast<double>(raw.memory)};
  });
}

NvmlResult<int> NvmlDevice::pcie_generation() const {
  return whole(ask<unsigned>(&NvmlFunctions::generation, "nvmlDeviceGetCurrPcieLinkGeneration"));
}
NvmlResult<int> NvmlDevice::pcie_generation_max() const {
  return whole(ask<unsigned>(&NvmlFunctions::generation_max, "nvmlDeviceGetMaxPcieLinkGeneration"));
}
NvmlResult<int> NvmlDevice::pcie_width() const {
  return whole(ask<unsigned>(&NvmlFunctions::width, "nvmlDeviceGetCurrPcieLinkWidth"));
}
NvmlResult<int> NvmlDevice::pcie_width_max() const {
  return whole(ask<unsigned>(&NvmlFunctions::width_max, "nvmlDeviceGetMaxPcieLinkWidth"));
}
NvmlResult<double> NvmlDevice::power_limit_w() const {
  return scaled(ask<unsigned>(&NvmlFunctions::power_limit, "nvmlDeviceGetEnforcedPowerLimit"),
                1e-3);
}
NvmlResult<double> NvmlDevice::power_limit_default_w() const {
  return scaled(ask<unsigned>(&NvmlFunctions::power_limit_default,
                              "nvmlDeviceGetPowerManagementDefaultLimit"),
                1e-3);
}
NvmlResult<double> NvmlDevice::power_w() const {
  return scaled(ask<unsigned>(&NvmlFunctions::power, "nvmlDeviceGetPowerUsage"), 1e-3);
}
NvmlResult<double> NvmlDevice::energy_j() const {
  const auto energy =
      ask<unsigned long long>(&NvmlFunctions::energy, "nvmlDeviceGetTotalEnergyConsumption");
  return converted<double>(energy,
                           [](unsigned long long raw) { return 1e-3 * static_cast<double>(raw); });
}
NvmlResult<double> NvmlDevice::clock_mhz(unsigned domain) const {
  return scaled(ask<unsigned>(&NvmlFunctions::clock, "nvmlDeviceGetClockInfo", domain), 1);
}
NvmlResult<double> NvmlDevice::clock_max_mhz(unsigned domain) const {
  return scaled(ask<unsigned>(&NvmlFunctions::clock_max, "nvmlDeviceGetMaxClockInfo", domain), 1);
}
NvmlResult<double> NvmlDevice::temperature_c() const {
  return scaled(
      ask<unsigned>(&NvmlFunctions::temperature, "nvmlDeviceGetTemperature", nvml::kTemperatureGpu),
      1);
}
NvmlResult<std::uint64_t> NvmlDevice::event_reasons() const {
  const auto reasons = ask<unsigned long long>(&NvmlFunctions::event_reasons,
                                               "nvmlDeviceGetCurrentClocksEventReasons");
  return converted<std::uint64_t>(reasons, [](unsigned long long raw) { return raw; });
}
NvmlResult<double> NvmlDevice::ecc_errors(unsigned kind) const {
  const auto errors = ask<unsigned long long>(
      &NvmlFunctions::ecc_errors, "nvmlDeviceGetTotalEccErrors", kind, nvml::kEccVolatile);
  return converted<double>(errors, [](unsigned long long raw) { return static_cast<double>(raw); });
}
NvmlResult<double> NvmlDevice::pcie_bytes_per_s(unsigned direction) const {
  return scaled(ask_beside_others<unsigned>(&NvmlFunctions::pcie_throughput,
                                            "nvmlDeviceGetPcieThroughput", direction),
                1000);
}

namespace {

// The list may grow between asking for its size and asking for it, so room is added until it fits.
nvml::Code read_processes(NvmlFunctions::Processes function, nvml::Handle handle,
                          std::vector<nvml::ProcessInfo>& out) {
  if (function == nullptr) return nvml::kFunctionNotFound;
  for (unsigned room = 32; room <= 32768; room *= 4) {
    out.assign(room, nvml::ProcessInfo{});
    unsigned count = room;
    const nvml::Code code = function(handle, &count, out.data());
    if (code == nvml::kInsufficientSize) continue;
    out.resize(code == nvml::kSuccess ? std::min(count, room) : 0);
    return code;
  }
  return nvml::kInsufficientSize;
}

}  // namespace

NvmlResult<std::vector<NvmlProcess>> NvmlDevice::processes() const {
  std::vector<nvml::ProcessInfo> compute;
  std::vector<nvml::ProcessInfo> graphics;
  const std::lock_guard lock(library_->calls_mutex_);
  const nvml::Code code = read_processes(library_->functions_->compute_processes, handle_, compute);
  if (code != nvml::kSuccess) {
    return {{}, code, library_->failure("nvmlDeviceGetComputeRunningProcesses", code)};
  }
  // Boards without graphics do not support the second list, which then adds nothing.
  read_processes(library_->functions_->graphics_processes, handle_, graphics);
  compute.insert(compute.end(), graphics.begin(), graphics.end());
  std::map<std::int64_t, NvmlProcess> by_pid;  // a process may be in both lists
  for (const nvml::ProcessInfo& raw : compute) {
    NvmlProcess& process = by_pid[raw.pid];
    process.pid = raw.pid;
    if (raw.used_memory != nvml::kNotAvailable) {
      process.memory_bytes = static_cast<std::int64_t>(raw.used_memory);
    } else if (!process.memory_bytes.has_value()) {
      process.memory_bytes = Measured<std::int64_t>::missing("the driver does not tell");
    }
  }
  std::vector<NvmlProcess> processes;
  processes.reserve(by_pid.size());
  for (auto& [pid, process] : by_pid) processes.push_back(std::move(process));
  return {std::move(processes), code, ""};
}

NvmlResult<std::vector<NvmlLink>> NvmlDevice::nvlinks() const {
  std::vector<NvmlLink> links;
  for (unsigned number = 0; number < nvml::kMaxNvlinks; ++number) {
    const auto state =
        ask<unsigned>(&NvmlFunctions::nvlink_state, "nvmlDeviceGetNvLinkState", number);
    if (number > 0 && state.code == nvml::kInvalidArgument) break;  // past the last one
    if (!state.has_value()) return {{}, state.code, state.reason};
    if (*state == 0) continue;
    NvmlLink link;
    const auto kind = ask<unsigned>(&NvmlFunctions::nvlink_partner_kind,
                                    "nvmlDeviceGetNvLinkRemoteDeviceType", number);
    link.is_switch = kind.has_value() && *kind == nvml::kNvlinkToSwitch;
    const auto partner = ask<nvml::PciInfo>(&NvmlFunctions::nvlink_partner,
                                            "nvmlDeviceGetNvLinkRemotePciInfo_v2", number);
    if (partner.has_value()) link.partner = partner.value->bus_id;
    links.push_back(std::move(link));
  }
  return {std::move(links), nvml::kSuccess, ""};
}

std::vector<NvmlResult<double>> NvmlDevice::fields(std::span<const unsigned> ids,
                                                   unsigned scope) const {
  const auto function = library_->functions_->fields;
  const std::lock_guard lock(library_->calls_mutex_);
  std::vector<nvml::FieldValue>& room = library_->field_room_;
  if (room.size() < ids.size()) room.resize(ids.size());
  const std::span<nvml::FieldValue> raw = std::span(room).first(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    raw[i] = nvml::FieldValue{};
    raw[i].field = ids[i];
    raw[i].scope = scope;
  }
  const nvml::Code called = function == nullptr
                                ? nvml::kFunctionNotFound
                                : function(handle_, static_cast<int>(raw.size()), raw.data());
  std::vector<NvmlResult<double>> values;
  for (const nvml::FieldValue& field : raw) {
    const nvml::Code code = called != nvml::kSuccess ? called : field.code;
    if (code == nvml::kSuccess) {
      values.push_back({field_number(field), code, ""});
    } else {
      values.push_back({{},
                        code,
                        "field " + std::to_string(field.field) + ": " +
                            library_->failure("nvmlDeviceGetFieldValues", code)});
    }
  }
  return values;
}

}  // namespace falcon::platform
