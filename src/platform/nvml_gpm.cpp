#include "platform/nvml_gpm.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>

#include "platform/nvml_functions.h"

namespace falcon::platform {

NvmlResult<bool> NvmlGpm::is_supported(const NvmlDevice& device) {
  const Nvml& library = *device.library_;
  constexpr const char* kCall = "nvmlGpmQueryDeviceSupport";
  nvml::GpmSupport support{nvml::kGpmSupportVersion, 0};
  const auto function = library.functions_->gpm_support;
  const std::lock_guard lock(library.calls_mutex_);
  const nvml::Code code =
      function == nullptr ? nvml::kFunctionNotFound : function(device.handle_, &support);
  if (code != nvml::kSuccess) return {{}, code, library.failure(kCall, code)};
  if (support.is_supported == 0) {
    return {{}, nvml::kNotSupported, std::string(kCall) + ": this board has none (before Hopper)"};
  }
  return {true, code, ""};
}

NvmlResult<std::unique_ptr<NvmlGpm>> NvmlGpm::open(const NvmlDevice& device) {
  const auto supported = is_supported(device);
  if (!supported.has_value()) return {{}, supported.code, supported.reason};
  const Nvml& library = *device.library_;
  const NvmlFunctions& functions = *library.functions_;
  std::unique_ptr<NvmlGpm> gpm(new NvmlGpm(library, device.handle_));  // its end locks too
  const std::lock_guard lock(library.calls_mutex_);
  nvml::Code code = nvml::kFunctionNotFound;
  if (functions.gpm_alloc != nullptr && functions.gpm_free != nullptr &&
      functions.gpm_sample != nullptr && functions.gpm_metrics != nullptr) {
    code = functions.gpm_alloc(&gpm->earlier_);
    if (code == nvml::kSuccess) code = functions.gpm_alloc(&gpm->later_);
  }
  if (code != nvml::kSuccess) return {{}, code, library.failure("nvmlGpmSampleAlloc", code)};
  return {std::move(gpm), code, ""};
}

NvmlGpm::~NvmlGpm() {
  const std::lock_guard lock(library_->calls_mutex_);
  for (const nvml::GpmSample sample : {earlier_, later_}) {
    if (sample != nullptr) library_->functions_->gpm_free(sample);
  }
}

NvmlResult<bool> NvmlGpm::sample() {
  const std::lock_guard lock(library_->calls_mutex_);
  const nvml::Code code = library_->functions_->gpm_sample(handle_, earlier_);
  if (code != nvml::kSuccess) return {{}, code, library_->failure("nvmlGpmSampleGet", code)};
  std::swap(earlier_, later_);
  return {std::exchange(has_later_, true), code, ""};
}

std::vector<NvmlResult<double>> NvmlGpm::values(std::span<const unsigned> metrics) const {
  constexpr const char* kCall = "nvmlGpmMetricsGet";
  nvml::GpmMetricsGet& request = *request_;
  request.version = nvml::kGpmMetricsVersion;
  request.count = static_cast<unsigned>(metrics.size());
  request.earlier = earlier_;
  request.later = later_;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    request.metrics[i] = nvml::GpmMetric{};
    request.metrics[i].id = metrics[i];
  }
  std::unique_lock lock(library_->calls_mutex_);
  const nvml::Code called = library_->functions_->gpm_metrics(&request);
  lock.unlock();
  std::vector<NvmlResult<double>> values;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const nvml::Code code = called != nvml::kSuccess ? called : request.metrics[i].code;
    const std::string metric = "GPM metric " + std::to_string(metrics[i]) + ": ";
    if (code != nvml::kSuccess) {
      values.push_back({{}, code, metric + library_->failure(kCall, code)});
    } else if (!std::isfinite(request.metrics[i].value)) {
      values.push_back({{}, code, metric + kCall + " gave no number"});
    } else {
      values.push_back({request.metrics[i].value, code, ""});
    }
  }
  return values;
}

}  // namespace falcon::platform
