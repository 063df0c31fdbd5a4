// Every reading as it was read, one JSON object a line, for programs that make their own summaries.
// Written by a thread of its own: a slow disk holds no reading up.
#pragma once
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "falconbench/sampler.h"

namespace falcon::telemetry {

/// {"t_s": 1.2003, "sampler": "nvml", "scope": "GPU-...", "metric": "energy_j", "kind": "counter",
///  "value": 81250.5, "scale": 1}: seconds since the sampling began; a counter's value x scale
/// grows by what the metric counts, a ratio has "base" beside it, a reading that failed has value
/// null and value_reason.
class RawLog {
 public:
  /// Makes the file new. began_s: the zero of t_s. A file that cannot be written is no error: see
  /// failure().
  RawLog(const std::string& path, double began_s);
  /// Closes.
  ~RawLog();
  RawLog(const RawLog&) = delete;
  RawLog& operator=(const RawLog&) = delete;

  /// From any thread; does not wait for the disk.
  void add(double now_s, const std::string& sampler, const std::string& scope, const Metric& metric,
           const Reading& reading);
  /// Writes what is left. May be called twice; what is added later is dropped.
  void close();
  /// Why the file is not whole; "" when it is.
  std::string failure() const;

 private:
  void write();
  void fail();

  std::string path_;
  double began_s_;
  std::FILE* file_ = nullptr;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::string failure_;
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace falcon::telemetry
