// The tolerance rules of the reference numbers, by model and floating type.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace falcon::test {

struct Tolerances {
  /// float64 is the gate; float32 follows with what the reference itself lost in float32 (rel32).
  Tolerances(std::string_view model, bool float64)
      : is_float64(float64),
        has_jumps(std::find(kJumping.begin(), kJumping.end(), model) != kJumping.end()) {}

  /// Outputs, taps, loss and buffers of one step.
  double one_step(double rel32) const { return is_float64 ? 1e-9 : std::max(10 * rel32, 1e-5); }
  double gradient(double rel32) const {
    if (is_float64) {
      return 1e-9;
    }
    return has_jumps ? 0.1 : std::max(10 * rel32, 1e-4);
  }
  /// Losses, gradient norms and changes over several steps; largest_rel32 is that of the section's
  /// losses.
  double trajectory(double largest_rel32) const {
    if (is_float64) {
      return has_jumps ? 1e-6 : 1e-9;
    }
    return std::max(10 * largest_rel32, 1e-5);
  }
  /// In float32 only the first loss of a trajectory means something when gradients jump.
  bool compares_all_losses() const { return is_float64 || !has_jumps; }

  bool is_float64;
  bool has_jumps;  // gradients jump where a ReLU input crosses 0, so one rounding can change them
                   // by percents

 private:
  static constexpr std::array<std::string_view, 2> kJumping{"resnet50", "mobilenet_v2"};
};

}  // namespace falcon::test
