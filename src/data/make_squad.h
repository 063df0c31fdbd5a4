// Makes a SQuAD set of made-up text: train-<version>.json, dev-<version>.json and vocab.txt.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "data/made_set.h"
#include "falconbench/spec_data.h"

namespace falcon::data {

/// The same options give the same bytes, with any number of threads.
struct MakeSquadOptions {
  std::int64_t train = 1000;  // questions
  std::int64_t val = 0;       // 0: no dev file
  std::string version = "v1.1";
  std::uint64_t seed = 0;
};

/// make_set() of data/made_set.h with these files. Throws as it does, and kUsage for options out of
/// range. threads 0: one per core.
MadeSet make_squad(const std::filesystem::path& path, const MakeSquadOptions& options,
                   int threads = 0, const ProgressFunction& progress = {});

/// The same from data.make. REQUIRES: every field of make that squad takes is set.
MadeSet make_squad_set(const std::filesystem::path& path, const MakeSpec& make, std::uint64_t seed,
                       const ProgressFunction& progress);

/// Names of files that belong to a SQuAD set: train-*.json, dev-*.json, vocab.txt.
bool is_squad_file_name(std::string_view file_name);
inline constexpr const char* kVocabularyName = "vocab.txt";

}  // namespace falcon::data
