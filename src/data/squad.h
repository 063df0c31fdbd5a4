// Data set `squad`: question answering from a SQuAD file (data/squad_file.h) and a WordPiece
// vocabulary. Tensors of a sample, all int64: input_ids, token_type_ids, attention_mask [S],
// start_positions, end_positions. One sample a window (data/squad_features.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "data/catalog.h"
#include "data/file_access.h"
#include "data/squad_answers.h"
#include "data/squad_cache.h"
#include "data/squad_features.h"
#include "data/vocabulary.h"
#include "falconbench/dataset.h"

namespace falcon::data {

class Squad : public Dataset {
 public:
  /// Reads options.path / options.subfolder (a file here) and the vocabulary, or its tokens from
  /// the cache. Throws falcon::Error: kHost when a file is missing or no question can be used,
  /// kUsage for a doc_stride that leaves no room for new tokens in a window; and what reading
  /// throws.
  explicit Squad(const DatasetOptions& options);

  std::int64_t size() const override { return static_cast<std::int64_t>(features_.size()); }
  std::vector<TensorLayout> layout() const override;
  std::unique_ptr<ReadScratch> make_scratch() const override;
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch& scratch,
            ReadCost& cost, SkippedItem& skipped) const override;
  const std::vector<SkippedItem>& skipped_at_scan() const override {
    return cached_.tokens.left_out.kept();
  }
  std::map<std::string, std::int64_t> skip_counts_at_scan() const override {
    return cached_.tokens.left_out.counts();
  }
  std::map<std::string, std::string> facts() const override;
  std::int64_t file_count() const override { return 1; }
  std::filesystem::path file(std::int64_t) const override { return file_; }
  FileReading reading() const override { return access_.reading(); }

  const SquadTokens& tokens() const { return cached_.tokens; }
  const std::vector<SquadFeature>& features() const { return features_; }
  /// What answers are held against; nullptr unless made with options.evaluation.
  const SquadTexts* texts() const { return texts_ ? &*texts_ : nullptr; }

 private:
  std::filesystem::path file_;
  FileAccess access_;
  Vocabulary vocabulary_;
  WindowOptions windows_;
  CachedTokens cached_;
  std::vector<SquadFeature> features_;
  std::optional<SquadTexts> texts_;
};

std::unique_ptr<Dataset> make_squad_dataset(const DatasetOptions& options);

}  // namespace falcon::data
