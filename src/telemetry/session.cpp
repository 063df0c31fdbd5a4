#include "telemetry/session.h"

#include <algorithm>
#include <string>
#include <utility>

#include <pthread.h>

#include "telemetry/blocked_signals.h"

namespace falcon::telemetry {
namespace {

// A reading that has begun may end by itself for a while, then it is interrupted.
constexpr double kPatienceS = 0.7;
constexpr double kStopTimeoutS = 2;

}  // namespace

Session::Session(std::vector<std::unique_ptr<Sampler>> samplers, SessionOptions options)
    : options_(std::move(options)), began_s_(options_.clock()) {
  std::vector<std::pair<std::string, std::vector<std::unique_ptr<Sampler>>>> by_lane;
  for (std::unique_ptr<Sampler>& sampler : samplers) {
    auto lane = std::find_if(by_lane.begin(), by_lane.end(),
                             [&](const auto& one) { return one.first == sampler->lane(); });
    if (lane == by_lane.end()) {
      by_lane.emplace_back().first = sampler->lane();
      lane = by_lane.end() - 1;
    }
    lane->second.push_back(std::move(sampler));
  }
  if (!options_.raw_file.empty()) {
    raw_ = std::make_shared<RawLog>(options_.raw_file, began_s_);
  }
  for (auto& [name, members] : by_lane) {
    lanes_.push_back(std::make_shared<Lane>(std::move(members), options_.series, raw_));
  }
}

Session::~Session() {
  stop();
}

void Session::start() {
  const BlockedSignals blocked;
  for (const std::shared_ptr<Lane>& lane : lanes_) {
    // The thread owns its lane: it may outlive the session when a driver call never returns.
    threads_.emplace_back([lane, clock = options_.clock, interval_s = options_.interval_ms / 1e3] {
      lane->run(clock, interval_s);
    });
    pthread_setname_np(threads_.back().native_handle(), "telemetry");
  }
}

void Session::tick() {
  for (const std::shared_ptr<Lane>& lane : lanes_) lane->read(options_.clock, Lane::Round::kAsked);
}

void Session::set_window() {
  for (const std::shared_ptr<Lane>& lane : lanes_) {
    lane->set_window(window_);
    lane->ask_for_reading();
  }
}

void Session::begin_window(double begin_s) {
  window_.begin_s = begin_s;
  set_window();
}

void Session::end_window(double end_s) {
  window_.end_s = end_s;
  set_window();
}

void Session::stop() {
  if (!ended_s_) ended_s_ = options_.clock();
  for (const std::shared_ptr<Lane>& lane : lanes_) lane->stop();
  const double stopped_s = steady_now_s();
  const auto left_s = [stopped_s](double of_s) {
    return std::max(0.0, stopped_s + of_s - steady_now_s());
  };
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (!lanes_[i]->wait_until_done(left_s(kPatienceS))) lanes_[i]->interrupt();
  }
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (lanes_[i]->wait_until_done(left_s(kStopTimeoutS))) {
      threads_[i].join();
    } else {
      threads_[i].detach();
    }
  }
  threads_.clear();
  if (raw_) raw_->close();
}

std::optional<LostSource> Session::lost() const {
  for (const std::shared_ptr<Lane>& lane : lanes_) {
    if (auto lost = lane->lost()) return lost;
  }
  return {};
}

Telemetry Session::result() const {
  Telemetry out;
  out.began_s = began_s_;
  Utilization& utilization = out.utilization;
  utilization.interval_ms = options_.interval_ms;
  utilization.window_s = Measured<double>::missing("the measured window did not begin");
  if (window_.begin_s && window_.end_s) {
    utilization.window_s = *window_.end_s - *window_.begin_s;
  } else if (window_.begin_s) {
    utilization.window_s = Measured<double>::missing("the measured window did not end");
  }
  for (const std::shared_ptr<Lane>& lane : lanes_) {
    lane->report(window_, began_s_, out);
    utilization.cost_cpu_s += lane->cpu_s();
  }
  if (raw_) {
    const std::string failure = raw_->failure();
    utilization.raw_file = failure.empty() ? Measured<std::string>(options_.raw_file)
                                           : Measured<std::string>::missing(failure);
  }
  const double length_s = ended_s_.value_or(options_.clock()) - began_s_;
  utilization.cost_cpu_pct = length_s > 0
                                 ? Measured<double>(100 * utilization.cost_cpu_s / length_s)
                                 : Measured<double>::missing("no time passed");
  return out;
}

}  // namespace falcon::telemetry
