// Items left out: exact counts by reason, and the first of them in full.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::data {

class SkipLog {
 public:
  static constexpr std::size_t kKept = 1000;  // a few hundred KB at most
  SkipLog() = default;
  /// As it was: the counts by reason, and the items kept in full.
  SkipLog(std::vector<SkippedItem> kept, std::map<std::string, std::int64_t> counts);
  void add(SkippedItem item);
  std::int64_t count() const { return count_; }
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }
  const std::vector<SkippedItem>& kept() const { return kept_; }
  /// "3 damaged, 1 empty; the first: a/x.JPEG (damaged: ...)", or "" when nothing was left out.
  std::string summary() const;

 private:
  std::int64_t count_ = 0;
  std::map<std::string, std::int64_t> counts_;
  std::vector<SkippedItem> kept_;
};

}  // namespace falcon::data
