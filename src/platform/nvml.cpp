#include "platform/nvml.h"

#include <cstdlib>
#include <initializer_list>

#include <dlfcn.h>

#include "platform/nvml_functions.h"

namespace falcon::platform {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";  // the name without .1 is for compilers

template <class Function>
void find(void* library, Function& out, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    out = reinterpret_cast<Function>(dlsym(library, name));
    if (out != nullptr) return;
  }
}

std::string library_path(const std::string& path) {
  if (!path.empty()) return path;
  const char* chosen = std::getenv("FALCONBENCH_NVML_LIBRARY");
  return chosen != nullptr && *chosen != '\0' ? chosen : kLibrary;
}

}  // namespace

NvmlFunctions::NvmlFunctions(void* library) {
  find(library, init, {"nvmlInit_v2"});
  find(library, shutdown, {"nvmlShutdown"});
  find(library, error_text, {"nvmlErrorString"});
  find(library, driver_version, {"nvmlSystemGetDriverVersion"});
  find(library, cuda_version,
       {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  find(library, count, {"nvmlDeviceGetCount_v2"});
  find(library, by_index, {"nvmlDeviceGetHandleByIndex_v2"});
  find(library, by_uuid, {"nvmlDeviceGetHandleByUUID"});
  find(library, uuid, {"nvmlDeviceGetUUID"});
  find(library, name, {"nvmlDeviceGetName"});
  find(library, pci_info, {"nvmlDeviceGetPciInfo_v3"});
  find(library, compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  find(library, memory, {"nvmlDeviceGetMemoryInfo"});
  find(library, memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  find(library, utilization, {"nvmlDeviceGetUtilizationRates"});
  find(library, generation, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  find(library, generation_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  find(library, width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  find(library, width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
  find(library, power_limit, {"nvmlDeviceGetEnforcedPowerLimit"});
  find(library, power_limit_default, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  find(library, power, {"nvmlDeviceGetPowerUsage"});
  find(library, energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  find(library, event_reasons,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(library, clock, {"nvmlDeviceGetClockInfo"});
  find(library, clock_max, {"nvmlDeviceGetMaxClockInfo"});
  find(library, temperature, {"nvmlDeviceGetTemperature"});
  find(library, pcie_throughput, {"nvmlDeviceGetPcieThroughput"});
  find(library, nvlink_state, {"nvmlDeviceGetNvLinkState"});
  find(library, nvlink_partner_kind, {"nvmlDeviceGetNvLinkRemoteDeviceType"});
  find(library, nvlink_partner, {"nvmlDeviceGetNvLinkRemotePciInfo_v2"});
  find(library, compute_processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  find(library, graphics_processes,
       {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"});
  find(library, ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  find(library, fields, {"nvmlDeviceGetFieldValues"});
  find(library, gpm_support, {"nvmlGpmQueryDeviceSupport"});
  find(library, gpm_alloc, {"nvmlGpmSampleAlloc"});
  find(library, gpm_free, {"nvmlGpmSampleFree"});
  find(library, gpm_sample, {"nvmlGpmSampleGet"});
  find(library, gpm_metrics, {"nvmlGpmMetricsGet"});
}

Nvml::Nvml(const std::string& path) {
  const std::string file = library_path(path);
  library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    const char* why = dlerror();
    unavailable_ = "no NVIDIA driver: " + std::string(why != nullptr ? why : file.c_str());
    return;
  }
  functions_ = std::make_unique<NvmlFunctions>(library_);
  if (functions_->init == nullptr || functions_->shutdown == nullptr) {
    unavailable_ = file + " is not NVML: it has no nvmlInit_v2";
    return;
  }
  const nvml::Code code = functions_->init();
  if (code == nvml::kSuccess) return;
  unavailable_ = failure("nvmlInit_v2", code);
  if (code == nvml::kVersionMismatch) {
    unavailable_ +=
        "; the library and the kernel module are of different drivers: restart the host";
  }
  functions_->shutdown = nullptr;
}

Nvml::~Nvml() {
  if (functions_ != nullptr && functions_->shutdown != nullptr && is_available()) {
    functions_->shutdown();
  }
  if (library_ != nullptr) dlclose(library_);
}

std::string Nvml::failure(const char* call, nvml::Code code) const {
  std::string text = std::string(call) + ": ";
  if (code == nvml::kFunctionNotFound) {
    text += "this driver has no such function";
  } else {
    text += functions_->error_text != nullptr ? functions_->error_text(code) : "failed";
  }
  return text + " (NVML code " + std::to_string(code) + ")";
}

NvmlResult<std::string> Nvml::driver_version() const {
  if (!is_available()) return {{}, nvml::kDriverNotLoaded, unavailable_};
  char text[nvml::kTextSize] = {};
  const auto function = functions_->driver_version;
  const nvml::Code code =
      function != nullptr ? function(text, sizeof text) : nvml::kFunctionNotFound;
  if (code != nvml::kSuccess) return {{}, code, failure("nvmlSystemGetDriverVersion", code)};
  return {std::string(text), code, ""};
}

NvmlResult<std::string> Nvml::driver_cuda_version() const {
  if (!is_available()) return {{}, nvml::kDriverNotLoaded, unavailable_};
  int version = 0;
  const auto function = functions_->cuda_version;
  const nvml::Code code = function != nullptr ? function(&version) : nvml::kFunctionNotFound;
  if (code != nvml::kSuccess) return {{}, code, failure("nvmlSystemGetCudaDriverVersion", code)};
  return {std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10), code, ""};
}

std::vector<NvmlResult<NvmlDevice>> Nvml::devices() const {
  if (!is_available()) return {};
  unsigned count = 0;
  const nvml::Code counted =
      functions_->count != nullptr ? functions_->count(&count) : nvml::kFunctionNotFound;
  if (counted != nvml::kSuccess) {
    return {{{}, counted, failure("nvmlDeviceGetCount_v2", counted)}};
  }
  std::vector<NvmlResult<NvmlDevice>> devices;
  for (unsigned i = 0; i < count; ++i) {
    nvml::Handle handle = nullptr;
    const auto function = functions_->by_index;
    const nvml::Code code = function != nullptr ? function(i, &handle) : nvml::kFunctionNotFound;
    if (code == nvml::kSuccess) {
      devices.push_back({NvmlDevice(*this, handle), code, ""});
    } else {
      devices.push_back({{}, code, failure("nvmlDeviceGetHandleByIndex_v2", code)});
    }
  }
  return devices;
}

NvmlResult<NvmlDevice> Nvml::device_by_uuid(const std::string& uuid) const {
  if (!is_available()) return {{}, nvml::kDriverNotLoaded, unavailable_};
  nvml::Handle handle = nullptr;
  const auto function = functions_->by_uuid;
  const nvml::Code code =
      function != nullptr ? function(uuid.c_str(), &handle) : nvml::kFunctionNotFound;
  if (code != nvml::kSuccess) {
    return {{}, code, uuid + ": " + failure("nvmlDeviceGetHandleByUUID", code)};
  }
  return {NvmlDevice(*this, handle), code, ""};
}

}  // namespace falcon::platform
