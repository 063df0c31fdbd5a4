#include "models/initialization.h"

#include <cmath>
#include <numbers>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "base/counter_random.h"

namespace falcon::models {

namespace {

constexpr std::int64_t kPairsAtOnce = 1 << 14;  // of one thread

base::CounterRandom stream(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, 64 bits
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return base::CounterRandom({seed, hash});
}

}  // namespace

void fill_normal(const at::Tensor& tensor, double stddev, std::uint64_t seed,
                 std::string_view name) {
  const at::NoGradGuard no_grad;
  const base::CounterRandom random = stream(seed, name);
  const at::Tensor values = at::empty(tensor.sizes(), at::kFloat);
  float* out = values.mutable_data_ptr<float>();
  const std::int64_t count = values.numel();
  at::parallel_for(0, (count + 1) / 2, kPairsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t pair = begin; pair < end; ++pair) {
      const auto n = static_cast<std::uint64_t>(2 * pair);
      const double radius = stddev * std::sqrt(-2 * std::log1p(-random.uniform_at(n)));
      const double angle = 2 * std::numbers::pi * random.uniform_at(n + 1);
      out[2 * pair] = static_cast<float>(radius * std::cos(angle));
      if (2 * pair + 1 < count) {
        out[2 * pair + 1] = static_cast<float>(radius * std::sin(angle));
      }
    }
  });
  tensor.copy_(values);
}

void fill_uniform(const at::Tensor& tensor, double bound, std::uint64_t seed,
                  std::string_view name) {
  const at::NoGradGuard no_grad;
  base::CounterRandom random = stream(seed, name);
  const at::Tensor values = at::empty(tensor.sizes(), at::kFloat);
  float* out = values.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    out[i] = static_cast<float>(random.uniform(-bound, bound));
  }
  tensor.copy_(values);
}

void initialize_convolution_network(const at::Tensor& tensor, std::uint64_t seed,
                                    std::string_view name) {
  const at::NoGradGuard no_grad;
  if (tensor.dim() == 4) {
    const auto fan_out = static_cast<double>(tensor.size(0) * tensor.size(2) * tensor.size(3));
    fill_normal(tensor, std::sqrt(2 / fan_out), seed, name);
    return;
  }
  const bool is_one =
      name.ends_with("running_var") || (tensor.dim() == 1 && name.ends_with("weight"));
  tensor.fill_(is_one ? 1 : 0);
}

}  // namespace falcon::models
