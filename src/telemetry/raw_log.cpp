#include "telemetry/raw_log.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include <pthread.h>

#include "base/json.h"
#include "telemetry/blocked_signals.h"

namespace falcon::telemetry {
namespace {

using base::Value;

constexpr auto kWritePeriod = std::chrono::seconds(1);
constexpr std::size_t kWriteBytes = 256 << 10;  // or when this much waits

const char* word_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kRatio:
      return "ratio";
    case MetricKind::kMean:
      return "mean";
  }
  return "";
}

}  // namespace

RawLog::RawLog(const std::string& path, double began_s) : path_(path), began_s_(began_s) {
  file_ = std::fopen(path.c_str(), "we");
  if (file_ == nullptr) {
    fail();
    return;
  }
  const BlockedSignals blocked;
  thread_ = std::thread([this] { write(); });
  pthread_setname_np(thread_.native_handle(), "telemetry raw");
}

RawLog::~RawLog() {
  close();
}

void RawLog::fail() {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = path_ + ": " + std::strerror(errno);
  waiting_.clear();
}

void RawLog::add(double now_s, const std::string& sampler, const std::string& scope,
                 const Metric& metric, const Reading& reading) {
  Value line = Value::object();
  line.set("t_s", std::round((now_s - began_s_) * 1e6) / 1e6);
  line.set("sampler", sampler);
  line.set("scope", scope);
  line.set("metric", metric.name);
  line.set("kind", word_of(metric.kind));
  if (reading.value && std::isfinite(*reading.value)) {
    line.set("value", *reading.value);
    if (metric.kind == MetricKind::kRatio) line.set("base", reading.base);
  } else {
    line.set("value", Value());
    line.set("value_reason", reading.value ? "not a finite number" : reading.reason);
  }
  line.set("scale", metric.scale);
  const std::string text = base::to_json(line) + "\n";
  const std::lock_guard lock(mutex_);
  if (!failure_.empty() || is_closing_) return;
  waiting_ += text;
  if (waiting_.size() >= kWriteBytes) changed_.notify_one();
}

void RawLog::write() {
  std::unique_lock lock(mutex_);
  while (failure_.empty() && !(is_closing_ && waiting_.empty())) {
    changed_.wait_for(lock, kWritePeriod,
                      [this] { return is_closing_ || waiting_.size() >= kWriteBytes; });
    const std::string text = std::exchange(waiting_, "");
    lock.unlock();
    const bool is_written =
        std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
    if (!is_written) fail();
    lock.lock();
  }
}

void RawLog::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0) fail();
}

std::string RawLog::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace falcon::telemetry
