// One function a strategy; catalog.cpp is the table of them.
#pragma once
#include <memory>

#include <falconbench/strategy.h>

namespace falcon::parallel {

/// A single rank: nothing is exchanged. Throws Error(kUsage) in a world above 1.
std::unique_ptr<Strategy> make_none(const StrategyContext& context);

/// One rank with several devices: replicas compute parts of its batch, in every step anew.
std::unique_ptr<Strategy> make_dp(const StrategyContext& context);

/// Every rank has the whole model and a slice of the batch; gradients are averaged in buckets while
/// the backward pass runs (c10d::Reducer). BatchNorm statistics stay each rank's own, as in the
/// reference. In a world of one it exchanges nothing.
std::unique_ptr<Strategy> make_ddp(const StrategyContext& context);

/// Optimizer state, gradients and parameters divided among the ranks (parallel/sharded.h). Throws
/// Error(kUsage) in a world of one.
std::unique_ptr<Strategy> make_sharded(const StrategyContext& context);

}  // namespace falcon::parallel
