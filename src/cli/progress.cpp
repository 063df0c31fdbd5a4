#include "cli/progress.h"

#include <algorithm>
#include <cstdio>

namespace falcon::cli {
namespace {

constexpr double kPlainIntervalSeconds = 5;
constexpr double kBarIntervalSeconds = 0.2;
constexpr int kBarWidth = 30;

}  // namespace

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (on_line_) std::fputs("\r\033[K", stderr);
  on_line_ = false;
}

std::string Progress::line(std::int64_t step, double) const {
  char text[160];
  const bool warming = step < options_.warmup_steps || options_.measured_steps == 0;
  const std::int64_t done = warming ? step : step - options_.warmup_steps;
  const std::int64_t total = warming ? options_.warmup_steps : options_.measured_steps.value_or(0);
  const char* what = warming ? "warm-up" : "measuring";
  if (total > 0) {
    std::snprintf(text, sizeof text, "%-9s step %lld/%lld  %.1f samples/s", what,
                  static_cast<long long>(done), static_cast<long long>(total), samples_per_s_);
  } else {
    std::snprintf(text, sizeof text, "%-9s step %lld  %.1f samples/s", what,
                  static_cast<long long>(done), samples_per_s_);
  }
  if (!options_.terminal || total <= 0) return text;
  const int filled =
      static_cast<int>(std::clamp<std::int64_t>(kBarWidth * done / total, 0, kBarWidth));
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] " + text;
}

void Progress::step(std::int64_t step, double now_s) {
  if (options_.quiet) return;
  if (step > last_step_ && last_step_s_ > 0 && now_s > last_step_s_) {
    samples_per_s_ =
        static_cast<double>((step - last_step_) * options_.global_batch) / (now_s - last_step_s_);
  }
  if (step > last_step_ || last_step_s_ == 0) {
    last_step_ = step;
    last_step_s_ = now_s;
  }
  if (now_s - shown_s_ < (options_.terminal ? kBarIntervalSeconds : kPlainIntervalSeconds) ||
      step == 0)
    return;
  shown_s_ = now_s;
  if (options_.terminal) {
    std::fprintf(stderr, "\r\033[K%s", line(step, now_s).c_str());
    std::fflush(stderr);
    on_line_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line(step, now_s).c_str());
  }
}

void Progress::phase(const std::string& phase, double now_s) {
  if (options_.quiet || phase == phase_) return;
  phase_ = phase;
  if (!options_.terminal) return;
  if (phase == "warm_up" || phase == "measure") return;
  std::fprintf(stderr, "\r\033[K%s ...", phase.c_str());
  std::fflush(stderr);
  on_line_ = true;
  shown_s_ = now_s;
}

}  // namespace falcon::cli
