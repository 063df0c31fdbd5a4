// The launcher of a host that is not the head: its workers are children or have joined, and what
// they say goes to the head, which alone judges and decides.
#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "falconbench/errors.h"
#include "falconbench/plan.h"
#include "falconbench/run_hosts.h"
#include "launch/crew.h"
#include "launch/fleet.h"
#include "launch/launcher.h"
#include "launch/signals.h"

namespace falcon::launch {

class Outpost {
 public:
  /// REQUIRES: options.crew has a plan from the head; all but meeting outlive this.
  Outpost(const Plan& plan, const LaunchOptions& options, MeetingPoint meeting,
          SignalWatch& signals);

  /// See launch::serve().
  ExitCode serve(const std::function<HostSight()>& sight, std::string& message);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void start_workers();
  void hear_head(double now_s);
  void obey(const Message& message);
  void hear(Worker& worker);
  void observe(const Worker& worker, const Message& message);
  void reap(Worker& worker);
  void read_signals();
  void check_head(double now_s);
  void give_up(ExitCode code, const std::string& why, double now_s);
  void advance(double now_s);
  double silence_limit_s() const;
  double next_wake_s() const;
  bool is_over() const;

  const LaunchOptions& options_;
  SignalWatch& signals_;
  ControlChannel& head_;
  LaunchOptions fleet_options_;
  Fleet fleet_;
  double heard_s_;
  bool is_interrupted_ = false;
  bool is_asked_to_finish_ = false, has_finished_ = false;
  std::optional<Refusal> result_;  // what the head ends with
  bool is_on_its_own_ = false;     // the head is gone
  double term_s_ = kNever, kill_s_ = kNever, abandon_s_ = kNever;
};

}  // namespace falcon::launch
