// A stand-in for libnvidia-ml.so.1 (see fake_nvml.md).
#include <algorithm>

#include "fake_world.h"

using namespace falcon::test::fake;

namespace {

/// Runs `body(partner)` of one link of the file's "nvlinks".
template <class Body>
Code with_nvlink(Handle handle, const char* call, unsigned link, Body body) {
  return with_board(handle, call, true, [&](const Value& board) {
    const Value* links = board.find("nvlinks");
    if (links == nullptr) return kNotSupported;
    if (link >= links->as_list().size()) return kInvalidArgument;
    return static_cast<Code>(body(links->as_list()[link]));
  });
}

}  // namespace

FAKE_NVML nvmlInit_v2() {
  world().begin();
  try {
    return static_cast<Code>(number(world().now(), "init", kSuccess));
  } catch (const falcon::Error&) {
    return kUnknown;
  }
}
FAKE_NVML nvmlShutdown() {
  return kSuccess;
}
extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(Code code) {
  switch (code) {
    case kNotSupported:
      return "Not Supported";
    case kGpuIsLost:
      return "GPU is lost";
    case kDriverNotLoaded:
      return "Driver Not Loaded";
    case kVersionMismatch:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}
FAKE_NVML nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return copy_text(world().now().find("driver"), out, size);
}
FAKE_NVML nvmlSystemGetCudaDriverVersion_v2(int* out) {
  *out = static_cast<int>(number(world().now(), "cuda", 13000));
  return kSuccess;
}
FAKE_NVML nvmlDeviceGetCount_v2(unsigned* out) {
  const Value all = world().now();
  const Value* boards = all.find("devices");
  *out = boards == nullptr ? 0 : static_cast<unsigned>(boards->as_list().size());
  return kSuccess;
}
FAKE_NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* out) {
  *out = reinterpret_cast<Handle>(static_cast<std::uintptr_t>(index) + 1);
  return with_board(*out, "nvmlDeviceGetHandleByIndex_v2", false,
                    [](const Value&) { return kSuccess; });
}
FAKE_NVML nvmlDeviceGetHandleByUUID(const char* uuid, Handle* out) {
  const Value all = world().now();
  const Value* boards = all.find("devices");
  for (std::size_t i = 0; boards != nullptr && i < boards->as_list().size(); ++i) {
    const Value* own = boards->as_list()[i].find("uuid");
    if (own == nullptr || own->as_text() != uuid) continue;
    *out = reinterpret_cast<Handle>(i + 1);
    return kSuccess;
  }
  return kNotFound;
}
FAKE_NVML nvmlDeviceGetUUID(Handle handle, char* out, unsigned size) {
  return with_board(handle, "nvmlDeviceGetUUID", false,
                    [&](const Value& board) { return copy_text(board.find("uuid"), out, size); });
}
FAKE_NVML nvmlDeviceGetName(Handle handle, char* out, unsigned size) {
  return with_board(handle, "nvmlDeviceGetName", false,
                    [&](const Value& board) { return copy_text(board.find("name"), out, size); });
}
FAKE_NVML nvmlDeviceGetPciInfo_v3(Handle handle, PciInfo* out) {
  return with_board(handle, "nvmlDeviceGetPciInfo_v3", false, [&](const Value& board) {
    return copy_text(board.find("pci"), out->bus_id, sizeof out->bus_id);
  });
}
FAKE_NVML nvmlDeviceGetCudaComputeCapability(Handle handle, int* major, int* minor) {
  return with_board(handle, "nvmlDeviceGetCudaComputeCapability", true, [&](const Value& board) {
    const auto tens = static_cast<int>(number(board, "compute_capability_x10", 90));
    *major = tens / 10;
    *minor = tens % 10;
    return kSuccess;
  });
}
FAKE_NVML nvmlDeviceGetMemoryInfo_v2(Handle handle, MemoryV2* out) {
  return with_board(handle, "nvmlDeviceGetMemoryInfo_v2", true, [&](const Value& board) {
    if (out->version != kMemoryV2) return kArgumentVersionMismatch;
    out->total = static_cast<unsigned long long>(number(board, "memory_bytes", 0));
    out->used = static_cast<unsigned long long>(number(board, "used_bytes", 0));
    out->reserved = static_cast<unsigned long long>(number(board, "reserved_bytes", 0));
    out->free = out->total - out->used - out->reserved;
    return kSuccess;
  });
}
FAKE_NVML nvmlDeviceGetMemoryInfo(Handle handle, Memory* out) {
  return with_board(handle, "nvmlDeviceGetMemoryInfo", true, [&](const Value& board) {
    out->total = static_cast<unsigned long long>(number(board, "memory_bytes", 0));
    out->used = static_cast<unsigned long long>(number(board, "used_bytes", 0) +
                                                number(board, "reserved_bytes", 0));
    out->free = out->total - out->used;
    return kSuccess;
  });
}
FAKE_NVML nvmlDeviceGetUtilizationRates(Handle handle, Utilization* out) {
  return with_board(handle, "nvmlDeviceGetUtilizationRates", true, [&](const Value& board) {
    out->gpu = static_cast<unsigned>(number(board, "gpu_busy_pct", 0));
    out->memory = static_cast<unsigned>(number(board, "memory_busy_pct", 0));
    return kSuccess;
  });
}
FAKE_NVML nvmlDeviceGetCurrPcieLinkGeneration(Handle handle, unsigned* out) {
  return natural(handle, "nvmlDeviceGetCurrPcieLinkGeneration", "pcie_generation", out);
}
FAKE_NVML nvmlDeviceGetMaxPcieLinkGeneration(Handle handle, unsigned* out) {
  return natural(handle, "nvmlDeviceGetMaxPcieLinkGeneration", "pcie_generation_max", out);
}
FAKE_NVML nvmlDeviceGetCurrPcieLinkWidth(Handle handle, unsigned* out) {
  return natural(handle, "nvmlDeviceGetCurrPcieLinkWidth", "pcie_width", out);
}
FAKE_NVML nvmlDeviceGetMaxPcieLinkWidth(Handle handle, unsigned* out) {
  return natural(handle, "nvmlDeviceGetMaxPcieLinkWidth", "pcie_width_max", out);
}
FAKE_NVML nvmlDeviceGetEnforcedPowerLimit(Handle handle, unsigned* out) {
  return natural(handle, "nvmlDeviceGetEnforcedPowerLimit", "power_limit_mw", out);
}
FAKE_NVML nvmlDeviceGetPowerManagementDefaultLimit(Handle handle, unsigned* out) {
  return natural(handle, "nvmlDeviceGetPowerManagementDefaultLimit", "power_limit_default_mw", out);
}
FAKE_NVML nvmlDeviceGetPowerUsage(Handle handle, unsigned* out) {
  return natural(handle, "nvmlDeviceGetPowerUsage", "power_mw", out);
}
FAKE_NVML nvmlDeviceGetTotalEnergyConsumption(Handle handle, unsigned long long* out) {
  return with_board(handle, "nvmlDeviceGetTotalEnergyConsumption", true, [&](const Value& board) {
    const double energy = counter(board, "83");
    if (energy < 0) return kNotSupported;
    *out = static_cast<unsigned long long>(energy);
    return kSuccess;
  });
}
FAKE_NVML nvmlDeviceGetClockInfo(Handle handle, unsigned domain, unsigned* out) {
  return natural(handle, "nvmlDeviceGetClockInfo", domain == kClockSm ? "sm_mhz" : "memory_mhz",
                 out);
}
FAKE_NVML nvmlDeviceGetMaxClockInfo(Handle handle, unsigned domain, unsigned* out) {
  return natural(handle, "nvmlDeviceGetMaxClockInfo",
                 domain == kClockSm ? "sm_max_mhz" : "memory_max_mhz", out);
}
FAKE_NVML nvmlDeviceGetTotalEccErrors(Handle handle, unsigned kind, unsigned since,
                                      unsigned long long* out) {
  return with_board(handle, "nvmlDeviceGetTotalEccErrors", true, [&](const Value& board) {
    if (since != kEccVolatile) return kInvalidArgument;
    const double errors =
        number(board, kind == kEccCorrected ? "ecc_corrected" : "ecc_uncorrected", -1);
    if (errors < 0) return kNotSupported;
    *out = static_cast<unsigned long long>(errors);
    return kSuccess;
  });
}
FAKE_NVML nvmlDeviceGetTemperature(Handle handle, unsigned, unsigned* out) {
  return natural(handle, "nvmlDeviceGetTemperature", "temperature_c", out);
}
FAKE_NVML nvmlDeviceGetCurrentClocksEventReasons(Handle handle, unsigned long long* out) {
  return with_board(handle, "nvmlDeviceGetCurrentClocksEventReasons", true,
                    [&](const Value& board) {
                      *out = static_cast<unsigned long long>(number(board, "event_reasons", 0));
                      return kSuccess;
                    });
}
FAKE_NVML nvmlDeviceGetPcieThroughput(Handle handle, unsigned direction, unsigned* out) {
  return natural(handle, "nvmlDeviceGetPcieThroughput",
                 direction == kPcieTx ? "pcie_tx_kb_s" : "pcie_rx_kb_s", out);
}
FAKE_NVML nvmlDeviceGetNvLinkState(Handle handle, unsigned link, unsigned* out) {
  return with_nvlink(handle, "nvmlDeviceGetNvLinkState", link, [&](const Value& partner) {
    *out = partner.is_null() ? 0 : 1;
    return kSuccess;
  });
}
FAKE_NVML nvmlDeviceGetNvLinkRemoteDeviceType(Handle handle, unsigned link, unsigned* out) {
  return with_nvlink(handle, "nvmlDeviceGetNvLinkRemoteDeviceType", link,
                     [&](const Value& partner) {
                       *out = partner.as_text() == "switch" ? kNvlinkToSwitch : 0;
                       return kSuccess;
                     });
}
FAKE_NVML nvmlDeviceGetNvLinkRemotePciInfo_v2(Handle handle, unsigned link, PciInfo* out) {
  return with_nvlink(
      handle, "nvmlDeviceGetNvLinkRemotePciInfo_v2", link, [&](const Value& partner) {
        const Value hidden("FFFFFFFF:FF:FF.0");
        const bool is_switch = partner.as_text() == "switch";
        return copy_text(is_switch ? &hidden : &partner, out->bus_id, sizeof out->bus_id);
      });
}
FAKE_NVML nvmlDeviceGetComputeRunningProcesses_v3(Handle handle, unsigned* count,
                                                  ProcessInfo* out) {
  return with_board(handle, "nvmlDeviceGetComputeRunningProcesses", true, [&](const Value& board) {
    const Value* listed = board.find("processes");
    const unsigned room = *count;
    *count = listed == nullptr ? 0 : static_cast<unsigned>(listed->as_list().size());
    if (*count > room) return kInsufficientSize;
    for (unsigned i = 0; i < *count; ++i) {
      const Value& one = listed->as_list()[i];
      out[i].pid = static_cast<unsigned>(number(one, "pid", 0));
      const double bytes = number(one, "memory_bytes", -1);
      out[i].used_memory = bytes < 0 ? kNotAvailable : static_cast<unsigned long long>(bytes);
    }
    return kSuccess;
  });
}
FAKE_NVML nvmlDeviceGetFieldValues(Handle handle, int count, FieldValue* values) {
  return with_board(handle, "nvmlDeviceGetFieldValues", true, [&](const Value& board) {
    for (int i = 0; i < count; ++i) {
      const std::string name =
          std::to_string(values[i].field) + (values[i].scope == kAllLinks ? "@all" : "");
      const double value = counter(board, name);
      values[i].type = 3;  // unsigned long long
      values[i].code = static_cast<Code>(
          entry(board, "codes", "field:" + name, value < 0 ? kNotSupported : kSuccess));
      values[i].data.natural_64 = value < 0 ? 0 : static_cast<unsigned long long>(value);
    }
    return kSuccess;
  });
}
