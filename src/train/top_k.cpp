#include "train/top_k.h"

#include <algorithm>
#include <sstream>

#include <ATen/ops/tensor.h>

namespace falcon::train {
namespace {

constexpr std::int64_t kMost = 5;

class TopK : public Metric {
 public:
  void add(const std::vector<at::Tensor>& outputs, const Batch& batch,
           std::span<const std::int64_t> samples) override {
    const at::Tensor& logits = outputs.at(0);
    const std::int64_t most = std::min(kMost, logits.size(1));
    const at::Tensor best = std::get<1>(logits.topk(most, /*dim=*/1));
    const at::Tensor counts = at::tensor(at::IntArrayRef(samples.data(), samples.size())).ge(0);
    const at::Tensor hits =
        best.eq(batch["labels"].unsqueeze(1)).logical_and(counts.to(logits.device()).unsqueeze(1));
    samples_ += counts.sum().item<std::int64_t>();
    first_ += hits.select(1, 0).sum().item<std::int64_t>();
    among_ += hits.sum().item<std::int64_t>();
  }
  std::string state() const override {
    return std::to_string(samples_) + " " + std::to_string(first_) + " " + std::to_string(among_);
  }
  void absorb(std::string_view state) override {
    std::istringstream text{std::string(state)};
    std::int64_t samples = 0, first = 0, among = 0;
    text >> samples >> first >> among;
    samples_ += samples;
    first_ += first;
    among_ += among;
  }
  std::map<std::string, double> values() const override {
    if (samples_ == 0) return {};
    const auto all = static_cast<double>(samples_);
    return {{"top1", static_cast<double>(first_) / all},
            {"top5", static_cast<double>(among_) / all}};
  }

 private:
  std::int64_t samples_ = 0, first_ = 0, among_ = 0;
};

}  // namespace

std::unique_ptr<Metric> make_top_k() {
  return std::make_unique<TopK>();
}

}  // namespace falcon::train
