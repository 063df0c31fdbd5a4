// Data set `synthetic` for question answering: token sequences with the shapes and statistics of
// SQuAD v1.1, a pure function of (seed, index), the same in every epoch; reads nothing.
#pragma once
#include <cstdint>

#include "data/catalog.h"
#include "data/synthetic_dataset.h"

namespace falcon::data {

/// Tensors of a sample, all int64: input_ids, token_type_ids, attention_mask [S], start_positions,
/// end_positions. [CLS] question [SEP] a window of the context [SEP], then padding; both positions
/// are 0 ([CLS]) where the answer is not in the window.
class SyntheticTokens : public SyntheticDataset {
 public:
  static constexpr std::int64_t kMinLength = 8;

  /// Throws falcon::Error (kUsage) for a count below 1 or a sequence length below kMinLength.
  explicit SyntheticTokens(const DatasetOptions& options);

  std::vector<TensorLayout> layout() const override;
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch& scratch,
            ReadCost& cost, SkippedItem& skipped) const override;
  std::map<std::string, std::string> facts() const override;

 private:
  std::int64_t length_;
};

}  // namespace falcon::data
