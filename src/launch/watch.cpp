#include "launch/watch.h"

#include <algorithm>
#include <vector>

namespace falcon::launch {
namespace {
constexpr std::size_t kKeptStepTimes = 63;
constexpr const char* kMeasuring = "measure";  // the one phase whose pace is known
}  // namespace

void Watch::heard(double now_s) {
  heard_s_ = now_s;
  has_spoken_ = true;
}

void Watch::phase(const std::string& phase, double now_s) {
  if (phase == phase_) return;
  phase_ = phase;
  moved_s_ = now_s;
}

void Watch::step(std::int64_t step, double at_s, double now_s) {
  if (step <= step_) return;
  if (step_ > 0 && at_s > step_at_s_) {
    // the first step, with its one-time costs, tells nothing of the pace
    step_times_.push_back((at_s - step_at_s_) / static_cast<double>(step - step_));
    if (step_times_.size() > kKeptStepTimes) step_times_.pop_front();
  }
  step_ = step;
  step_at_s_ = at_s;
  moved_s_ = now_s;
}

void Watch::work(std::int64_t work, double now_s) {
  if (work <= work_) return;
  work_ = work;
  moved_s_ = now_s;
}

void Watch::forgive(double gap_s) {
  heard_s_ += gap_s;
  moved_s_ += gap_s;
}

double Watch::median_step_s() const {
  if (step_times_.empty()) return 0;
  std::vector<double> sorted(step_times_.begin(), step_times_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double Watch::progress_limit_s() const {
  if (phase_ != kMeasuring) return limits_.setup_timeout_s;
  return std::max(limits_.progress_min_s, limits_.progress_factor * median_step_s());
}

Watch::Verdict Watch::verdict(double now_s) const {
  if (is_finished_) return Verdict::kFine;
  // a program that is still being loaded has no voice yet
  if (has_spoken_ && silent_s(now_s) >= limits_.alive_timeout_s) return Verdict::kSilent;
  return unmoved_s(now_s) >= progress_limit_s() ? Verdict::kStuck : Verdict::kFine;
}

double Watch::next_check_s() const {
  if (is_finished_) return std::numeric_limits<double>::infinity();
  const double stuck_s = moved_s_ + progress_limit_s();
  return has_spoken_ ? std::min(stuck_s, heard_s_ + limits_.alive_timeout_s) : stuck_s;
}

}  // namespace falcon::launch
