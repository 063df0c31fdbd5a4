// NVML, loaded at run time: one program for hosts with and without an NVIDIA driver. Every call has
// its own outcome; one that a board does not support spoils nothing else. Calls may come from
// several threads. Not usable after fork() (NVML's state does not survive it): start processes with
// posix_spawn.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "falconbench/measured.h"
#include "platform/nvml_api.h"

namespace falcon::platform {

/// A value or NVML's return code with a sentence (call, text and code).
template <class T>
struct NvmlResult {
  std::optional<T> value;
  nvml::Code code = nvml::kSuccess;
  std::string reason;

  bool has_value() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  /// The GPU has fallen off the bus: the run cannot go on with it.
  bool is_lost() const { return code == nvml::kGpuIsLost; }
  /// Asking again will not help (not supported, no such function, no permission).
  bool is_permanent() const {
    return code == nvml::kNotSupported || code == nvml::kFunctionNotFound ||
           code == nvml::kNoPermission;
  }
  Measured<T> measured() const {
    return value ? Measured<T>(*value) : Measured<T>::missing(reason);
  }
};

struct NvmlMemory {
  std::int64_t total_bytes = 0;
  std::int64_t used_bytes = 0;  // allocated; with old drivers also what the driver reserves
};
struct NvmlUtilization {
  double gpu_pct = 0;     // share of the driver's sample period with at least one kernel resident
  double memory_pct = 0;  // share in which device memory was read or written
};
struct NvmlProcess {
  std::int64_t pid = 0;
  Measured<std::int64_t> memory_bytes;
};

struct NvmlLink {
  std::string partner;  // its address, as NVML prints it; empty: not told
  bool is_switch = false;
};

class Nvml;
struct NvmlFunctions;

/// One GPU. Valid while its Nvml lives.
class NvmlDevice {
 public:
  NvmlDevice(const Nvml& library, nvml::Handle handle) : library_(&library), handle_(handle) {}

  NvmlResult<std::string> uuid() const;
  NvmlResult<std::string> pci_address() const;  // dddd:bb:dd.f, lower case
  NvmlResult<std::string> name() const;
  NvmlResult<std::string> compute_capability() const;  // "9.0"
  NvmlResult<NvmlMemory> memory() const;
  NvmlResult<NvmlUtilization> utilization() const;
  NvmlResult<int> pcie_generation() const;      // now: falls at idle on many boards
  NvmlResult<int> pcie_generation_max() const;  // of GPU and slot together
  NvmlResult<int> pcie_width() const;
  NvmlResult<int> pcie_width_max() const;
  NvmlResult<double> power_limit_w() const;  // enforced: all limiters together
  NvmlResult<double> power_limit_default_w() const;
  NvmlResult<double> power_w() const;   // a 1 s average on Ampere and newer, except GA100
  NvmlResult<double> energy_j() const;  // since driver load; moves about every 100 ms
  NvmlResult<double> clock_mhz(unsigned domain) const;  // nvml::kClockSm, kClockMemory
  NvmlResult<double> clock_max_mhz(unsigned domain) const;
  NvmlResult<double> temperature_c() const;
  NvmlResult<std::uint64_t> event_reasons() const;  // why clocks are low now, bit mask
  /// Bytes/s over the 20 ms that the call waits, seen from the GPU (host-to-device is rx), protocol
  /// included. NVML says KB/s; taken as 1000 bytes.
  NvmlResult<double> pcie_bytes_per_s(unsigned direction) const;  // nvml::kPcieTx, kPcieRx
  /// Active links of NVLink. Not supported: a board without, or a guest that may not see them.
  NvmlResult<std::vector<NvmlLink>> nvlinks() const;
  /// Compute and graphics processes. Host pids, or nothing, inside a container.
  NvmlResult<std::vector<NvmlProcess>> processes() const;
  /// Memory errors since the driver was loaded. kind: nvml::kEccCorrected, kEccUncorrected. Needs
  /// ECC to be on.
  NvmlResult<double> ecc_errors(unsigned kind) const;
  /// Several field values (NVML_FI_DEV_*) in one driver call, in the order asked for. scope: what
  /// the field wants, e.g. nvml::kAllLinks.
  std::vector<NvmlResult<double>> fields(std::span<const unsigned> ids, unsigned scope = 0) const;

 private:
  friend class NvmlGpm;
  template <class Out, class Function, class... Arguments>
  NvmlResult<Out> ask(Function NvmlFunctions::*function, const char* call,
                      Arguments... arguments) const;
  /// For what waits long.
  template <class Out, class Function, class... Arguments>
  NvmlResult<Out> ask_beside_others(Function NvmlFunctions::*function, const char* call,
                                    Arguments... arguments) const;

  const Nvml* library_;
  nvml::Handle handle_;
};

class Nvml {
 public:
  /// Loads and initialises `path`; "": FALCONBENCH_NVML_LIBRARY, else libnvidia-ml.so.1. Absence is
  /// no error: is_available() says so.
  explicit Nvml(const std::string& path = "");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool is_available() const { return unavailable_.empty(); }
  /// Why there is no NVML, for people; empty when there is.
  const std::string& unavailable() const { return unavailable_; }

  NvmlResult<std::string> driver_version() const;
  NvmlResult<std::string> driver_cuda_version() const;  // newest that the driver supports: "13.0"
  /// Every GPU that NVML lists, in its order, which means nothing (it may change from boot to
  /// boot): tell GPUs apart by UUID or PCI address. One entry a position: a device or why not.
  std::vector<NvmlResult<NvmlDevice>> devices() const;
  NvmlResult<NvmlDevice> device_by_uuid(const std::string& uuid) const;

 private:
  friend class NvmlDevice;
  friend class NvmlGpm;
  std::string failure(const char* call, nvml::Code code) const;

  void* library_ = nullptr;
  std::unique_ptr<NvmlFunctions> functions_;
  std::string unavailable_;
  // One call at a time, whichever the device, but those that wait long: with two boards at once GPM
  // of driver 580 crashes. And what the field call writes to is no memory that comes and goes: with
  // two boards joined by NVLink the heap was found spoilt when it was.
  mutable std::mutex calls_mutex_;
  mutable std::vector<nvml::FieldValue> field_room_ = std::vector<nvml::FieldValue>(64);
};

}  // namespace falcon::platform
