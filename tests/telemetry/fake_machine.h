// A small machine under a load that tests set: two CPUs, one disk, one worker, one GPU. Its sources
// can be moved and taken away between two readings.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/fake_host.h"
#include "telemetry/catalog.h"
#include "telemetry/session.h"

namespace falcon::telemetry {

class FakeMachine {
 public:
  FakeMachine();

  /// Begins a session over the given samplers (default: all).
  void begin(const std::optional<std::vector<std::string>>& chosen = {});
  /// One second at each load (0..1), a reading after each; the window is from the first reading on.
  void run(const std::vector<double>& loads);
  /// The same for a window that goes on.
  void go_on(const std::vector<double>& loads);
  void stop() { session_->stop(); }
  Telemetry result() const { return session_->result(); }
  std::optional<LostSource> lost() const { return session_->lost(); }
  /// begin, run, result.
  static Telemetry measure(const std::vector<double>& loads);

  /// Takes a file or folder of the root away for good.
  void take_away(const std::string& path);
  std::vector<WatchedChassis> chassis;
  test::FakeRoot root;
  std::string raw_file;  // empty: none
  bool has_gpm = false;  // SMs and tensor cores follow the load, 1000 MiB received at full load
  std::string extra_counters;  // more members of its "counters", e.g. R"(, "94": 3)"
  std::string board_extras;    // more members of the board's JSON, e.g. R"(, "codes": {...})"

 private:
  void write();
  void put(const std::string& path, const std::string& text);
  std::string boards() const;
  std::string gpm() const;

  std::vector<std::string> gone_;
  std::unique_ptr<test::FakeNvml> nvml_;
  std::unique_ptr<Session> session_;
  double now_s_ = 1000;
  double load_ = 0, work_s_ = 0, elapsed_s_ = 0;  // work: loads summed over the seconds
};

}  // namespace falcon::telemetry
