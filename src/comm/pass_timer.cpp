#include "comm/pass_timer.h"

#include <algorithm>
#include <utility>

#include <falconbench/clock.h>

#include "measure/intervals.h"

namespace falcon::comm {

void PassTimer::begin_pass() {
  harvest();
  passes_.emplace_back();
}

void PassTimer::add(const c10::intrusive_ptr<c10d::Work>& work,
                    const c10::intrusive_ptr<c10::ivalue::Future>& future) {
  Collective collective;
  if (timed_on_device_) {
    collective.work = work;
  } else {
    collective.begin_s = steady_now_s();
    collective.end_s = std::make_shared<std::atomic<double>>(0);
    future->addCallback(
        [end_s = collective.end_s](c10::ivalue::Future&) { end_s->store(steady_now_s()); });
  }
  passes_.back().push_back(std::move(collective));
}

bool PassTimer::is_over(const Pass& pass) const {
  return std::all_of(pass.begin(), pass.end(), [&](const Collective& one) {
    return timed_on_device_ ? one.work->isCompleted() : one.end_s->load() > 0;
  });
}

double PassTimer::busy_ms_of(const Pass& pass) const {
  if (timed_on_device_) {
    double busy_ms = 0;
    for (const Collective& one : pass) busy_ms += static_cast<double>(one.work->getDuration());
    return busy_ms;
  }
  std::vector<measure::Interval> under_way;
  for (const Collective& one : pass) under_way.push_back({one.begin_s, one.end_s->load()});
  return 1e3 * measure::covered(std::move(under_way));
}

void PassTimer::harvest() {
  while (!passes_.empty() && is_over(passes_.front())) {
    busy_ms_.push_back(busy_ms_of(passes_.front()));
    passes_.pop_front();
  }
}

const std::vector<double>& PassTimer::busy_ms() {
  harvest();
  return busy_ms_;
}

}  // namespace falcon::comm
