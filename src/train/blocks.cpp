#include "train/blocks.h"

#include <algorithm>
#include <cmath>

#include <falconbench/errors.h>

namespace falcon::train {
namespace {

constexpr double kBlockSeconds = 0.15;
constexpr std::int64_t kMaxBlockSteps = 256;

std::string to_text(const Block& block) {
  return std::to_string(block.steps) + (block.last ? " last" : "") +
         (block.stopped ? " stopped" : "");
}

Block from_text(const std::string& text) {
  Block block;
  block.steps = std::stoll(text);
  block.last = text.find("last") != std::string::npos;
  block.stopped = text.ends_with("stopped");
  return block;
}

/// Steps until the budget of seconds is used up, as far as can be told. At least one measured step.
std::int64_t steps_left_in_time(const RunLength& length, const RunProgress& progress) {
  if (progress.planned_steps == length.warmup_steps) return 1;
  if (!progress.step_s) return 1;
  const auto under_way = static_cast<double>(progress.planned_steps - progress.completed_steps);
  const double left_s = length.seconds - progress.measured_s - under_way * *progress.step_s;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(left_s / *progress.step_s)));
}

}  // namespace

Block next_block(const RunLength& length, const RunProgress& progress) {
  if (progress.stop) return {0, true, true};
  std::int64_t steps = 1;
  if (progress.step_s && *progress.step_s > 0) {
    const double fitting = kBlockSeconds / *progress.step_s;
    steps = std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1, kMaxBlockSteps);
  }
  const std::int64_t warmup_left = length.warmup_steps - progress.planned_steps;
  if (warmup_left > 0) {
    return {std::min(steps, warmup_left), length.measured_steps == 0 && steps >= warmup_left};
  }
  if (length.checkpoint_steps) {
    const std::int64_t done = -warmup_left % *length.checkpoint_steps;
    steps = std::min(steps, *length.checkpoint_steps - done);
  }
  if (!length.measured_steps) {
    const std::int64_t left = steps_left_in_time(length, progress);
    return {std::min(steps, left), left == 0};
  }
  const std::int64_t left = -progress.planned_steps + length.warmup_steps + *length.measured_steps;
  return {std::min(steps, left), left <= steps};
}

void BlockProtocol::announce(const RunProgress& progress) {
  if (!decides()) return;
  announced_ = next_block(length_, progress);
  if (group_ != nullptr) {
    if (ranks_meet_) forget_read_blocks(progress.completed_steps);
    group_->set(key_of(announced_count_), to_text(*announced_));
    block_steps_.push_back(announced_->steps);
  }
  announced_count_ += 1;
}

/// A step of rank 0 is complete only when every rank has taken part in its reduction, so the others
/// have read the key of its block.
void BlockProtocol::forget_read_blocks(std::int64_t completed_steps) {
  while (!block_steps_.empty() && forgotten_steps_ + block_steps_.front() < completed_steps) {
    group_->remove(key_of(forgotten_count_));
    forgotten_count_ += 1;
    forgotten_steps_ += block_steps_.front();
    block_steps_.pop_front();
  }
}

Block BlockProtocol::take() {
  const std::int64_t index = taken_count_;
  taken_count_ += 1;
  if (!decides()) return from_text(group_->get(key_of(index)));
  if (!announced_) throw Error(ExitCode::kInternal, "no block was announced");
  const Block block = *announced_;
  announced_.reset();
  return block;
}

}  // namespace falcon::train
