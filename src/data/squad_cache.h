// The tokens of a SQuAD file, kept on disk under the hash of what they are made from (the file's
// and the vocabulary's content, the tokenizer's version): a file with the numbers, and a manifest
// in JSON that says what they are of and holds their checksum.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/file_access.h"
#include "data/squad_tokens.h"
#include "data/vocabulary.h"

namespace falcon::data {

struct CachedTokens {
  SquadTokens tokens;
  bool was_cached = false;
  std::filesystem::path cache;  // the manifest; empty when there is no folder to write to
  std::string note;             // why they were made anew or are not kept; "" when all is well
};

/// From the cache, or made and kept there. Both give the same tokens, facts and items left out.
/// What is damaged in a cache is made anew. Any number of processes may call this at the same time.
/// Throws as read_squad() does. threads 0: one per core. access: how the file is read whole, for
/// its hash.
CachedTokens cached_squad_tokens(const std::filesystem::path& file, const Vocabulary& vocabulary,
                                 int threads = 0, const FileAccess& access = FileAccess());

/// Where caches of the files in a data folder are looked for, and written to the first that can be:
/// .falconbench-cache in it, then falconbench below XDG_CACHE_HOME or ~/.cache.
std::vector<std::filesystem::path> cache_folders(const std::filesystem::path& data_folder);

}  // namespace falcon::data
