// Averages gradients over the ranks while the backward pass still runs: c10d::Reducer behind an own
// interface, with an own communication hook that counts and marks.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "comm/process_group.h"

namespace falcon::comm {

struct ReducerOptions {
  std::int64_t bucket_bytes = 0;
  std::int64_t first_bucket_bytes = 0;  // of the bucket that is reduced first
  /// What buckets are converted to on their way; absent: as they are, in the parameters' type.
  std::optional<at::ScalarType> exchanged_type = {};
  bool exchanges = true;  // false: every rank keeps its own gradients
  /// Called in every backward pass on the thread and stream of the backward computation, when the
  /// last gradient is there and the last bucket is about to be sent. May be empty.
  std::function<void()> on_gradients_computed;
};

/// What one backward pass handed to the communication library: bytes as exchanged.
struct ReductionCount {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
};

class GradientReducer {
 public:
  /// Collective. parameters: leaves that require grad, no duplicates, with their final strides, on
  /// the group's device; identical on all ranks already. REQUIRES: the current stream is the one
  /// that trains. The group must outlive the reducer.
  GradientReducer(ProcessGroup& group, std::vector<at::Tensor> parameters, ReducerOptions options);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Collective, before every forward pass: after the first backward pass the buckets are laid out
  /// again in the order the gradients came in.
  void before_forward();
  /// Between the forward and the backward pass. At the end of backward() every gradient is the
  /// average over the ranks and is a view into a bucket. Every parameter must get a gradient.
  void before_backward();

  /// Of the last complete backward pass.
  ReductionCount last_pass() const;
  /// How long the communication library worked for each pass that is over, in order.
  const std::vector<double>& busy_ms() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace falcon::comm
