// Sampling over one run: in the launcher, on threads of its own, from before the workers' first
// step to after their last. The measured window is told when it is known; summaries are exact for
// it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "falconbench/clock.h"
#include "falconbench/sampler.h"
#include "telemetry/lane.h"

namespace falcon::telemetry {

struct SessionOptions {
  double interval_ms = 200;
  bool series = true;
  std::string raw_file = {};                     // for every reading; empty: none
  std::function<double()> clock = steady_now_s;  // steady seconds
};

class Session {
 public:
  Session(std::vector<std::unique_ptr<Sampler>> samplers, SessionOptions options);
  /// Stops.
  ~Session();

  /// One thread a lane; signals stay with the threads of the caller. REQUIRES: not started.
  void start();
  /// One round on the calling thread, for tests. REQUIRES: not started.
  void tick();
  /// The window in steady seconds. Each may be told up to Track::kMaxDelayS after it happened;
  /// while none has begun, older readings serve the series only. Both also ask for a reading at
  /// once, so that the window is covered to its ends.
  void begin_window(double begin_s);
  void end_window(double end_s);
  /// Ends the threads. One that hangs in a driver call is left behind after 2 s (what it uses stays
  /// alive with it). May be called twice.
  void stop();

  /// The first source that must not be read again: with a lost GPU the run ends as a hardware
  /// failure (its scope is the GPU's UUID). Cheap: for the launcher's loop.
  std::optional<LostSource> lost() const;
  /// What was seen so far; after stop() that of the whole run.
  Telemetry result() const;

 private:
  void set_window();

  SessionOptions options_;
  double began_s_;
  std::optional<double> ended_s_;
  Window window_;
  std::shared_ptr<RawLog> raw_;  // null: not asked for
  std::vector<std::shared_ptr<Lane>> lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace falcon::telemetry
