// The few declarations of NVML's C interface that this program calls (names, values and layouts as
// in nvml.h of CUDA 13; all of them are stable across drivers, newer layouts have newer names). Own
// header so that the Torch-free part builds where no CUDA headers are.
#pragma once
#include <cstddef>
#include <cstdint>

namespace falcon::platform::nvml {

using Handle = void *;  // nvmlDevice_t
using Code = int;       // nvmlReturn_t

constexpr Code kSuccess = 0;
constexpr Code kInvalidArgument = 2;
constexpr Code kNotSupported = 3;
constexpr Code kNoPermission = 4;
constexpr Code kInsufficientSize = 7;
constexpr Code kDriverNotLoaded = 9;
constexpr Code kFunctionNotFound = 13;
constexpr Code kGpuIsLost = 15;
constexpr Code kVersionMismatch = 18;  // library and kernel module are of different drivers

constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kEccCorrected = 0;
constexpr unsigned kEccUncorrected = 1;
constexpr unsigned kEccVolatile = 0;  // since driver load
constexpr unsigned kAllLinks = ~0U;   // scope of a field: all NVLinks together
constexpr unsigned kPcieTx = 0;
constexpr unsigned kPcieRx = 1;
constexpr unsigned kMaxNvlinks = 36;                 // no GPU has more
constexpr unsigned kNvlinkToSwitch = 2;              // NVML_NVLINK_DEVICE_TYPE_SWITCH
constexpr unsigned long long kNotAvailable = ~0ULL;  // NVML_VALUE_NOT_AVAILABLE
constexpr unsigned kTextSize = 96;  // the longest of all names asked for (device name v2)

struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
struct Memory {  // nvmlMemory_t: used includes what the driver reserves
  unsigned long long total, free, used;
};
struct MemoryV2 {  // nvmlMemory_v2_t
  unsigned version;
  unsigned long long total, reserved, free, used;
};
constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | (2U << 24U);  // NVML_STRUCT_VERSION(Memory, 2)
struct Utilization {                                            // nvmlUtilization_t, percent
  unsigned gpu, memory;
};
struct ProcessInfo {  // nvmlProcessInfo_t of ..._v2 and ..._v3
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
union FieldValueData {  // nvmlValue_t
  double real;
  int integer;
  unsigned natural;
  unsigned long natural_long;
  unsigned long long natural_64;
  long long integer_64;
  unsigned short natural_16;
};
struct FieldValue {  // nvmlFieldValue_t
  unsigned field, scope;
  long long timestamp_us, latency_us;
  unsigned type;  // nvmlValueType_t
  Code code;      // of this field: the call may succeed while this does not
  FieldValueData data;
};
struct GpmSupport {  // nvmlGpmSupport_t
  unsigned version;
  unsigned is_supported;
};
constexpr unsigned kGpmSupportVersion = 1;
struct GpmMetric {  // nvmlGpmMetric_t
  unsigned id;
  Code code;  // of this metric
  double value;
  const char *short_name, *long_name, *unit;
};
using GpmSample = void *;  // nvmlGpmSample_t
/// nvmlGpmMetricsGet_t. Each header has a longer list, under the same version; the library fills as
/// many as are asked for.
constexpr std::size_t kMaxGpmMetrics = 512;
struct GpmMetricsGet {
  unsigned version;
  unsigned count;
  GpmSample earlier, later;
  GpmMetric metrics[kMaxGpmMetrics];
};
constexpr unsigned kGpmMetricsVersion = 1;
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetricsGet, metrics) == 24);
static_assert(sizeof(PciInfo) == 68 && sizeof(Memory) == 24 && sizeof(MemoryV2) == 40);
static_assert(sizeof(ProcessInfo) == 24 && sizeof(FieldValue) == 40);

}  // namespace falcon::platform::nvml
