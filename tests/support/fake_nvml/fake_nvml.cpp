// A stand-in for libnvidia-ml.so.1 whose boards are described in the JSON file that
// FALCONBENCH_FAKE_NVML names (see fake_nvml.md). The file is read again whenever it changes, so a
// test can move the world between two readings.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include <sys/stat.h>

#include "base/json.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"
#include "platform/nvml_api.h"

#define FAKE_NVML extern "C" __attribute__((visibility("default"))) int

using namespace falcon::platform::nvml;
using falcon::base::Value;

namespace {

constexpr Code kNotFound = 6;
constexpr Code kArgumentVersionMismatch = 25;
constexpr Code kUnknown = 999;
constexpr double kEnergyPeriod_s = 0.1;  // the real counter moves every 100 ms

class World {
 public:
  /// The described world, read again when the file has changed.
  Value now() {
    const std::lock_guard lock(mutex_);
    const char* path = std::getenv("FALCONBENCH_FAKE_NVML");
    struct stat facts {};
    if (path == nullptr || stat(path, &facts) != 0) return Value::object();
    const auto stamp = std::to_string(facts.st_ino) + "." + std::to_string(facts.st_size) + "." +
                       std::to_string(facts.st_mtim.tv_sec) + "." +
                       std::to_string(facts.st_mtim.tv_nsec);
    if (stamp != stamp_) {
      std::stringstream text;
      text << std::ifstream(path).rdbuf();
      world_ = falcon::base::parse_json(text.str(), path);
      stamp_ = stamp;
    }
    return world_;
  }
  /// Counts a reading of a board.
  int count(std::size_t board) {
    const std::lock_guard lock(mutex_);
    return ++reads_[board];
  }
  /// As a driver that is loaded by its first client.
  void begin() {
    const std::lock_guard lock(mutex_);
    reads_.clear();
    loaded_s_ = falcon::steady_now_s();
  }
  double age_s() {
    const std::lock_guard lock(mutex_);
    return falcon::steady_now_s() - loaded_s_;
  }

 private:
  std::mutex mutex_;
  std::string stamp_;
  Value world_ = Value::object();
  std::map<std::size_t, int> reads_;
  double loaded_s_ = falcon::steady_now_s();
};

World& world() {
  static World the_world;
  return the_world;
}

double number(const Value& value, const char* path, double otherwise) {
  const Value* found = value.find_path(path);
  return found != nullptr && found->is_number() ? found->as_number() : otherwise;
}

/// A member that is not nested: names of calls hold no dots, but "field:83" is one name.
double entry(const Value& value, const char* map, const std::string& name, double otherwise) {
  const Value* entries = value.find(map);
  const Value* found = entries != nullptr ? entries->find(name) : nullptr;
  return found != nullptr ? found->as_number() : otherwise;
}

Code copy_text(const Value* text, char* out, unsigned size) {
  if (text == nullptr || !text->is_text()) return kNotSupported;
  if (text->as_text().size() >= size) return kInsufficientSize;
  std::memcpy(out, text->as_text().c_str(), text->as_text().size() + 1);
  return kSuccess;
}

std::size_t index_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle) - 1;
}

/// Runs `body(board)` unless the file gives this call a return code or the board is lost.
template <class Body>
Code with_board(Handle handle, const char* call, bool is_reading, Body body) {
  try {
    const Value all = world().now();
    const Value* boards = all.find("devices");
    if (boards == nullptr || handle == nullptr || index_of(handle) >= boards->as_list().size()) {
      return kInvalidArgument;
    }
    const Value& board = boards->as_list()[index_of(handle)];
    const double lost_after = number(board, "lost_after_reads", INFINITY);
    if (is_reading && world().count(index_of(handle)) > lost_after) return kGpuIsLost;
    const auto delay_ms = static_cast<int>(entry(board, "delays_ms", call, 0));
    if (delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    const auto code = static_cast<Code>(entry(board, "codes", call, kSuccess));
    return code != kSuccess ? code : body(board);
  } catch (const falcon::Error&) {
    return kUnknown;
  }
}

Code natural(Handle handle, const char* call, const char* key, unsigned* out) {
  return with_board(handle, call, true, [&](const Value& board) {
    const double value = number(board, key, -1);
    if (value < 0) return kNotSupported;
    *out = static_cast<unsigned>(value);
    return kSuccess;
  });
}

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

/// A count in the file's "counters", growing by its "rates" a second since the load.
double counter(const Value& board, const std::string& name) {
  const double step = std::floor(world().age_s() / kEnergyPeriod_s) * kEnergyPeriod_s;
  return std::floor(entry(board, "counters", name, -1) + entry(board, "rates", name, 0) * step);
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

// What the counters of a board stood at, and when: a metric is what they grew by a second. Both are
// in the file's "gpm", so a test moves them as it likes.
namespace {
struct FakeGpmSample {
  double time_s = 0;
  std::map<unsigned, double> counters;
};
}  // namespace

FAKE_NVML nvmlGpmQueryDeviceSupport(Handle handle, GpmSupport* out) {
  return with_board(handle, "nvmlGpmQueryDeviceSupport", true, [&](const Value& board) {
    if (out->version != kGpmSupportVersion) return kArgumentVersionMismatch;
    out->is_supported = board.find("gpm") != nullptr ? 1 : 0;
    return kSuccess;
  });
}
FAKE_NVML nvmlGpmSampleAlloc(GpmSample* out) {
  *out = new FakeGpmSample;
  return kSuccess;
}
FAKE_NVML nvmlGpmSampleFree(GpmSample sample) {
  delete static_cast<FakeGpmSample*>(sample);
  return kSuccess;
}
FAKE_NVML nvmlGpmSampleGet(Handle handle, GpmSample out) {
  return with_board(handle, "nvmlGpmSampleGet", true, [&](const Value& board) {
    const Value* gpm = board.find("gpm");
    if (gpm == nullptr) return kNotSupported;
    auto& sample = *static_cast<FakeGpmSample*>(out);
    sample.time_s = number(*gpm, "time_s", 0);
    sample.counters.clear();
    for (const Value::Member& counter : gpm->find("counters")->as_object()) {
      sample.counters[static_cast<unsigned>(std::stoul(counter.name))] = counter.value.as_number();
    }
    return kSuccess;
  });
}
FAKE_NVML nvmlGpmMetricsGet(GpmMetricsGet* request) {
  if (request->version != kGpmMetricsVersion) return kArgumentVersionMismatch;
  const auto& earlier = *static_cast<const FakeGpmSample*>(request->earlier);
  const auto& later = *static_cast<const FakeGpmSample*>(request->later);
  for (unsigned i = 0; i < request->count; ++i) {
    GpmMetric& metric = request->metrics[i];
    const auto before = earlier.counters.find(metric.id);
    const auto after = later.counters.find(metric.id);
    const bool is_there = before != earlier.counters.end() && after != later.counters.end();
    metric.code = is_there ? kSuccess : kNotSupported;
    if (!is_there) continue;
    metric.value = (after->second - before->second) / (later.time_s - earlier.time_s);
  }
  return kSuccess;
}
