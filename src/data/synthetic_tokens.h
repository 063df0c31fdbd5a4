// Data set `synthetic` for question answering: token sequences with the shapes and statistics of
// SQuAD v1.1, a pure function of (seed, index), the same in every epoch; reads nothing.
#pragma once
#include <cstdint>

#include "data/catalog.h"
#include "falconbench/dataset.h"

namespace falcon::data {

/// Tensors of a sample, all int64: input_ids, token_type_ids, attention_mask [S], start_positions,
/// end_positions. [CLS] question [SEP] a window of the context [SEP], then padding; both positions
/// are 0 ([CLS]) where the answer is not in the window.
class SyntheticTokens : public Dataset {
 public:
  static constexpr std::int64_t kMinLength = 8;

  /// Throws falcon::Error (kUsage) for a count below 1 or a sequence length below kMinLength.
  explicit SyntheticTokens(const DatasetOptions& options);

  std::int64_t size() const override { return count_; }
  std::vector<TensorLayout> layout() const override;
  std::unique_ptr<ReadScratch> make_scratch() const override;
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch& scratch,
            ReadCost& cost, SkippedItem& skipped) const override;
  const std::vector<SkippedItem>& skipped_at_scan() const override { return none_; }
  std::map<std::string, std::string> facts() const override;

 private:
  std::int64_t count_;
  std::int64_t length_;
  std::vector<SkippedItem> none_;
};

}  // namespace falcon::data
