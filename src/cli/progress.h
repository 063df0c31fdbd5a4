// How far a run is, on stderr: a bar that redraws itself on a terminal, else one plain line every
// few seconds.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace falcon::cli {

class Progress {
 public:
  struct Options {
    std::int64_t warmup_steps = 0;
    std::optional<std::int64_t> measured_steps;  // absent: seconds decide
    std::int64_t global_batch = 1;
    bool terminal = false;  // redraw one line
    bool quiet = false;     // show nothing
  };
  explicit Progress(const Options& options) : options_(options) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// step: completed steps, warm-up included; now_s: steady clock.
  void step(std::int64_t step, double now_s);
  void phase(const std::string& phase, double now_s);
  /// Makes room for other output: ends the line that the bar stands on.
  void clear();

 private:
  std::string line(std::int64_t step, double now_s) const;

  Options options_;
  std::string phase_;
  double shown_s_ = -1e9;
  std::int64_t last_step_ = 0;
  double last_step_s_ = 0;
  double samples_per_s_ = 0;
  bool on_line_ = false;
};

}  // namespace falcon::cli
