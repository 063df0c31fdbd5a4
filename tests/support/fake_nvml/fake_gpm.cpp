// The part of the fake NVML that is GPM.
#include "fake_world.h"

using namespace falcon::test::fake;

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
