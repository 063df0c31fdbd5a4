#include "analysis/predict/predict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "report/figures.h"

namespace falcon::analysis {
namespace {

using report::figure;

constexpr double kMinShape = 0.25, kMaxShape = 4;  // of gradient readiness
constexpr double kShapeBand = 1.5;
constexpr double kModelError = 0.02;  // what no input of the model tells

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// How the measured run pins the model down.
struct Calibration {
  // A call beside computation against one alone: it waits for the other ranks and shares memory and
  // cores, which a slower link hides as far as it is slower; or it is faster than alone.
  double call_extra_ms = 0;
  std::vector<double> own_ms;  // of each bucket, alone on the measured links; empty: nothing hides
  double call_ratio = 1;
  double busy_ratio = 1;  // of all calls: what the ratio would be if links explained all of it
  double shape = 1;
  double extra_ms = 0;  // exposed time that no exchange explains: waiting for other ranks
  bool has_shape = false;
};

/// Times of the exchange on the way to a target: of each bucket, and of each level of its links.
struct Exchange {
  std::vector<double> bucket_ms, level_ms;
};

Exchange exchange_of(const StepModel& model, const Target& target, Pace pace,
                     const Calibration& fit) {
  Exchange out;
  out.level_ms.resize(1 + target.levels.size());
  for (std::size_t bucket = 0; bucket < model.bucket_bytes.size(); ++bucket) {
    std::vector<double> parts = all_reduce_parts_s(
        target.fabric, target.levels, model.bucket_bytes[bucket], target.devices, pace);
    for (double& part : parts) part *= 1000 * fit.call_ratio;
    const double slower_ms = fit.own_ms.empty() ? 0 : sum_of(parts) - fit.own_ms[bucket];
    if (target.devices > 1) {
      parts.front() += std::max(0.0, fit.call_extra_ms - std::max(0.0, slower_ms));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) out.level_ms[i] += parts[i];
    out.bucket_ms.push_back(sum_of(parts));
  }
  return out;
}

/// Of the exchange that the measured run made, had it been alone.
std::vector<double> own_bucket_ms(const StepModel& model, const Fabric& on) {
  return exchange_of(model, {on, {}, model.ranks}, Pace::kTypical, {}).bucket_ms;
}

/// The shape with which the simulated exposed time is the measured one; exposed time falls as the
/// shape grows.
double fit_shape(const StepModel& model, const std::vector<double>& times) {
  double low = kMinShape;
  double high = kMaxShape;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    const double exposed =
        exposed_after_backward_ms(model.bucket_bytes, times, model.backward_ms, middle);
    (exposed > model.exposed_ms ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

/// Exchange times of the measured run: what was seen busy, shared out as the links tell, or by
/// bytes where they are not known.
std::vector<double> measured_times_ms(const StepModel& model, const std::optional<Fabric>& on) {
  std::vector<double> times = model.bucket_bytes;
  if (on) times = own_bucket_ms(model, *on);
  const double scale = *model.busy_ms / sum_of(times);
  for (double& time : times) time *= scale;
  return times;
}

/// busy_ms: of all calls beside computation.
void settle_calls(const StepModel& model, const Fabric& on, double busy_ms, Calibration& out) {
  out.own_ms = own_bucket_ms(model, on);
  const double alone_ms = sum_of(out.own_ms);
  out.busy_ratio = busy_ms / alone_ms;
  out.call_ratio = std::min(1.0, out.busy_ratio);
  out.call_extra_ms =
      std::max(0.0, busy_ms - alone_ms) / static_cast<double>(model.bucket_bytes.size());
}

Calibration calibrate(const StepModel& model, const std::optional<Fabric>& measured_on) {
  Calibration out;
  if (model.ranks < 2 || !model.busy_ms.has_value() || !(*model.busy_ms > 0)) return out;
  if (measured_on) settle_calls(model, *measured_on, *model.busy_ms, out);
  if (!(model.exposed_ms > 0)) return out;
  const std::vector<double> times = measured_times_ms(model, measured_on);
  out.shape = fit_shape(model, times);
  out.has_shape = true;
  const double exposed =
      exposed_after_backward_ms(model.bucket_bytes, times, model.backward_ms, out.shape);
  if (exposed > 1.01 * model.exposed_ms) {
    // part of the busy time was waiting, in the shade
    const double share = model.exposed_ms / exposed;
    if (measured_on) settle_calls(model, *measured_on, *model.busy_ms * share, out);
    if (!measured_on) out.call_ratio = share;
  } else {
    out.extra_ms = std::max(0.0, model.exposed_ms - exposed);
  }
  return out;
}

struct Simulated {
  double step_ms, exposed_ms;
  Exchange exchange;
};

Simulated simulate(const StepModel& model, const Target& target, Pace pace, const Calibration& fit,
                   double shape) {
  Exchange exchange = exchange_of(model, target, pace, fit);
  const double compute_ms = (model.step_ms - model.exposed_ms) * target.compute_scale;
  const double waited_ms = target.devices > 1 ? fit.extra_ms : 0;
  const double exposed_ms =
      waited_ms + exposed_after_backward_ms(model.bucket_bytes, exchange.bucket_ms,
                                            model.backward_ms * target.compute_scale, shape);
  return {compute_ms + exposed_ms, exposed_ms, std::move(exchange)};
}

/// The ends of the band, without noise: what a call takes longer beside computation is hidden by
/// slower links, or stays, or grows with the time of the call.
std::pair<double, double> band_ms(const StepModel& model, const Target& target,
                                  const Calibration& fit) {
  const double factor = fit.has_shape ? std::sqrt(kShapeBand) : kShapeBand;
  Calibration stays = fit, grows = fit;
  stays.own_ms.clear();
  grows.call_ratio = std::max(fit.call_ratio, fit.busy_ratio);
  grows.call_extra_ms = 0;
  std::pair<double, double> ends{std::numeric_limits<double>::max(), 0};
  for (const Calibration& one : {fit, stays, grows}) {
    const double fast = simulate(model, target, Pace::kFast, one, fit.shape * factor).step_ms;
    const double slow = simulate(model, target, Pace::kSlow, one, fit.shape / factor).step_ms;
    ends = {std::min(ends.first, fast), std::max(ends.second, slow)};
  }
  const double error_ms = model.backward_error_ms * target.compute_scale;
  return {ends.first - error_ms, ends.second + error_ms};
}

/// Which of the links takes most of the exchange.
std::string slowest_level(const Target& target, const std::vector<double>& level_ms) {
  if (target.levels.empty()) return "";
  const auto most = std::max_element(level_ms.begin(), level_ms.end());
  const auto at = static_cast<std::size_t>(most - level_ms.begin());
  const std::string share = "; " + figure(*most) + " ms of the exchange are ";
  if (at == 0) return share + "inside the groups of " + std::to_string(target.levels[0].devices);
  const Level& level = target.levels[at - 1];
  return share + "between groups of " + std::to_string(level.devices) + ", at " +
         report::bytes_text(level.bytes_per_s) + "/s each";
}

/// The slowest of what has to go through a step.
void settle_bottleneck(const StepModel& model, const Target& target,
                       const std::vector<double>& level_ms, Prediction& out) {
  const double samples = model.samples_per_rank * target.devices;
  const int per_host = target.levels.empty() ? target.devices : target.levels.front().devices;
  const double host_samples = model.samples_per_rank * std::min(per_host, target.devices);
  if (model.input_samples_per_s.has_value() && *model.input_samples_per_s > 0) {
    const double input_ms = 1000 * host_samples / *model.input_samples_per_s;
    if (input_ms > out.step_ms) {
      out.step_ms = input_ms;
      out.step_high_ms = std::max(out.step_high_ms, input_ms);
      out.bottleneck =
          "input: the loader delivers " + figure(*model.input_samples_per_s) + " samples/s a host";
    }
  }
  if (out.bottleneck.empty() && out.exposed_ms > 0.05 * out.step_ms) {
    out.bottleneck = "communication: " + figure(out.exposed_ms) + " ms of " + figure(out.step_ms) +
                     " ms are exposed" + slowest_level(target, level_ms);
  } else if (out.bottleneck.empty()) {
    out.bottleneck = "computation: " + figure(out.compute_ms) + " ms of " + figure(out.step_ms) +
                     " ms, " + figure(out.communication_ms) + " ms of communication beside it";
  }
  out.samples_per_s = 1000 * samples / out.step_ms;
}

}  // namespace

double exposed_after_backward_ms(const std::vector<double>& bucket_bytes,
                                 const std::vector<double>& bucket_ms, double backward_ms,
                                 double shape) {
  const double all = sum_of(bucket_bytes);
  double share = 0;
  double end_ms = 0;
  for (std::size_t i = 0; i < bucket_bytes.size(); ++i) {
    share += bucket_bytes[i] / all;
    const double ready_ms = backward_ms * std::pow(std::min(share, 1.0), shape);
    end_ms = std::max(end_ms, ready_ms) + bucket_ms[i];
  }
  return std::max(0.0, end_ms - backward_ms);
}

Prediction predict(const StepModel& model, const std::optional<Fabric>& measured_on,
                   const Target& target) {
  const Calibration fit = calibrate(model, measured_on);
  const Simulated typical = simulate(model, target, Pace::kTypical, fit, fit.shape);
  Prediction out;
  out.model = model.model;
  out.fabric = target.fabric.name;
  out.fabric_source = target.fabric.source;
  out.links_basis = target.fabric.basis;
  out.devices = target.devices;
  out.step_ms = typical.step_ms;
  out.exposed_ms = typical.exposed_ms;
  out.communication_ms = sum_of(typical.exchange.bucket_ms);
  out.compute_ms = typical.step_ms - typical.exposed_ms;
  const auto [fast_ms, slow_ms] = band_ms(model, target, fit);
  const double noise = std::hypot(model.relative_ci95, kModelError);
  out.step_low_ms = fast_ms / (1 + noise);
  out.step_high_ms = slow_ms * (1 + noise);
  out.measured_step_ms = model.step_ms;
  settle_bottleneck(model, target, typical.exchange.level_ms, out);
  out.time_ratio = out.step_ms / model.step_ms;
  out.assumptions = model.assumptions;
  out.assumptions.push_back("the same batch a device; all ranks compute at one speed");
  if (measured_on && model.busy_ms.has_value() && model.ranks > 1) {
    out.assumptions.push_back(
        "an exchange beside computation takes " +
        (fit.call_extra_ms > 0
             ? figure(fit.call_extra_ms) + " ms more a call than alone, less what slower links hide"
             : figure(fit.call_ratio) + " times as long as alone") +
        ", as in the measured run");
  }
  if (fit.extra_ms > 0.01 * model.step_ms) {
    out.assumptions.push_back(figure(fit.extra_ms) +
                              " ms of exposed time are waiting for other ranks, and stay");
  }
  out.assumptions.push_back(
      fit.has_shape ? "gradients become ready as the measured exposed time tells (shape " +
                          figure(fit.shape) + ")"
                    : "gradients become ready evenly over the backward pass");
  if (target.compute_scale != 1) {
    out.assumptions.push_back("computation takes " + figure(target.compute_scale) +
                              " times as long there, as given");
  }
  return out;
}

}  // namespace falcon::analysis
