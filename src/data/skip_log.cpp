#include "data/skip_log.h"

#include <utility>

#include "base/text.h"

namespace falcon::data {

SkipLog::SkipLog(std::vector<SkippedItem> kept, std::map<std::string, std::int64_t> counts)
    : counts_(std::move(counts)), kept_(std::move(kept)) {
  for (const auto& [reason, count] : counts_) count_ += count;
}

void SkipLog::add(SkippedItem item) {
  ++count_;
  ++counts_[item.reason];
  if (kept_.size() < kKept) kept_.push_back(std::move(item));
}

std::string SkipLog::summary() const {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts_) parts.push_back(std::to_string(count) + " " + reason);
  if (parts.empty()) return {};
  const SkippedItem& first = kept_.front();
  return base::join(parts, ", ") + "; the first: " + base::printable(first.item, 200) + " (" +
         first.reason + ": " + first.detail + ")";
}

}  // namespace falcon::data
