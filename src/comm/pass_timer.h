// How long the communication library worked for each backward pass. For the sources of this folder
// only (c10d headers).
#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace falcon::comm {

/// One pass after another, collectives in order. With NCCL the time between the events that it
/// records on its stream; with Gloo the time in which at least one collective was under way.
class PassTimer {
 public:
  /// timed_on_device: NCCL, with the timing of its collectives switched on.
  explicit PassTimer(bool timed_on_device) : timed_on_device_(timed_on_device) {}

  void begin_pass();
  void add(const c10::intrusive_ptr<c10d::Work>& work,
           const c10::intrusive_ptr<c10::ivalue::Future>& future);
  /// Of all passes that are over, in order. Waits for none.
  const std::vector<double>& busy_ms();

 private:
  struct Collective {
    c10::intrusive_ptr<c10d::Work> work;
    double begin_s = 0;
    std::shared_ptr<std::atomic<double>> end_s;  // 0: not over
  };
  using Pass = std::vector<Collective>;
  bool is_over(const Pass& pass) const;
  double busy_ms_of(const Pass& pass) const;
  void harvest();

  bool timed_on_device_;
  std::deque<Pass> passes_;
  std::vector<double> busy_ms_;
};

}  // namespace falcon::comm
