#include "train/answer_metric.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include <ATen/ops/stack.h>

#include <falconbench/errors.h>

#include "data/squad.h"

namespace falcon::train {
namespace {

static_assert(std::is_trivially_copyable_v<data::WindowAnswer> &&
              sizeof(data::WindowAnswer) == 24);  // no padding

class Answers : public Metric {
 public:
  explicit Answers(const data::Squad& squad) : squad_(squad) {}

  void add(const std::vector<at::Tensor>& outputs, const Batch&,
           std::span<const std::int64_t> samples) override {
    // [2, B, S]: of starts, of ends
    const at::Tensor logits = at::stack({outputs.at(0), outputs.at(1)}).to(at::kFloat);
    const std::int64_t most = std::min(data::kBestPositions, logits.size(2));
    const auto [best, places] = logits.topk(most, /*dim=*/2);
    const at::Tensor values = best.cpu().contiguous();
    const at::Tensor positions = places.cpu().contiguous();
    const at::Tensor null_scores = logits.select(2, 0).sum(0).cpu();
    const auto best_of = [&](std::int64_t side, std::size_t row) {
      const std::int64_t at = (side * logits.size(1) + static_cast<std::int64_t>(row)) * most;
      const auto count = static_cast<std::size_t>(most);
      return data::BestPositions{{positions.const_data_ptr<std::int64_t>() + at, count},
                                 {values.const_data_ptr<float>() + at, count}};
    };
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples[i] < 0) continue;
      const auto window = static_cast<std::uint32_t>(samples[i]);
      const data::SquadFeature& feature = squad_.features()[window];
      const std::uint64_t question_tokens =
          squad_.tokens().questions[feature.question].tokens.count;
      windows_.push_back(data::best_span(feature, question_tokens, best_of(0, i), best_of(1, i)));
      windows_.back().window = window;
      windows_.back().null_score = null_scores.const_data_ptr<float>()[i];
    }
  }

  std::string state() const override {
    return {reinterpret_cast<const char*>(windows_.data()),
            windows_.size() * sizeof(data::WindowAnswer)};
  }

  void absorb(std::string_view state) override {
    const std::size_t own = windows_.size();
    windows_.resize(own + state.size() / sizeof(data::WindowAnswer));
    if (!state.empty()) std::memcpy(windows_.data() + own, state.data(), state.size());
  }

  std::map<std::string, double> values() const override {
    const std::optional<data::AnswerScore> score =
        data::score_answers(squad_.tokens(), *squad_.texts(), squad_.features(), windows_);
    if (!score) return {};
    return {{"exact_match", score->exact_match}, {"f1", score->f1}};
  }

 private:
  const data::Squad& squad_;
  std::vector<data::WindowAnswer> windows_;
};

}  // namespace

std::unique_ptr<Metric> make_answer_metric(const Dataset& dataset) {
  const auto* squad = dynamic_cast<const data::Squad*>(&dataset);
  if (squad == nullptr || squad->texts() == nullptr) {
    throw Error(ExitCode::kUsage,
                "evaluate: exact_match and f1 need the texts of data.format squad");
  }
  return std::make_unique<Answers>(*squad);
}

}  // namespace falcon::train
