#include "report/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace falcon::report {
namespace {

/// NaN where a rank's loss is not finite.
std::vector<double> global_losses(const Evidence& evidence) {
  std::size_t count = std::numeric_limits<std::size_t>::max();
  for (const WorkerRecords* rank : evidence.records) count = std::min(count, rank->loss.size());
  std::vector<double> losses(count, 0.0);
  for (const WorkerRecords* rank : evidence.records) {
    for (std::size_t k = 0; k < count; ++k) losses[k] += rank->loss[k].value_or(std::nan(""));
  }
  for (double& loss : losses) loss /= static_cast<double>(evidence.records.size());
  return losses;
}

Measured<double> finite(double loss, const char* which) {
  if (std::isfinite(loss)) return loss;
  return Measured<double>::missing(std::string("the loss of the ") + which + " step is not finite");
}

}  // namespace

Loss make_loss(const Evidence& evidence) {
  Loss out;
  const bool is_complete =
      !evidence.records.empty() && evidence.records.size() == evidence.plan.ranks.size();
  const std::vector<double> losses = is_complete ? global_losses(evidence) : std::vector<double>();
  if (losses.empty()) {
    out.first = out.last =
        Measured<double>::missing(is_complete ? "no step was finished" : evidence.gap());
    out.series_reason = out.first.reason;
    return out;
  }
  out.first = finite(losses.front(), "first");
  out.last = finite(losses.back(), "last");
  const std::size_t stride = (losses.size() + kMaxLossPoints - 1) / kMaxLossPoints;
  out.steps_per_point = static_cast<std::int64_t>(stride);
  std::size_t lost = 0;
  for (std::size_t begin = 0; begin < losses.size(); begin += stride) {
    const std::span<const double> group =
        std::span(losses).subspan(begin, std::min(stride, losses.size() - begin));
    const double mean =
        std::accumulate(group.begin(), group.end(), 0.0) / static_cast<double>(group.size());
    out.series.push_back(std::isfinite(mean) ? std::optional(mean) : std::nullopt);
    lost += std::isfinite(mean) ? 0 : 1;
  }
  if (lost > 0) out.series_reason = std::to_string(lost) + " points are not finite";
  return out;
}

}  // namespace falcon::report
