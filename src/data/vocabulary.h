// A WordPiece vocabulary: one token a line, its id is the line's number from 0 (vocab.txt as BERT
// has it).
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace falcon::data {

class Vocabulary {
 public:
  /// Lines may end in CR LF; a byte order mark and empty lines at the end are dropped. Throws
  /// falcon::Error: kHost when the file cannot be read; InputError (with the line) on a token given
  /// twice, an empty line before another token and invalid UTF-8, and when [PAD], [UNK], [CLS] or
  /// [SEP] is missing.
  static Vocabulary read(const std::filesystem::path& file);
  /// text: what such a file holds; source: its name in messages.
  Vocabulary(std::string_view text, const std::string& source);

  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  std::optional<std::int32_t> find(std::string_view token) const;
  std::int32_t pad() const { return pad_; }
  std::int32_t unknown() const { return unknown_; }
  std::int32_t cls() const { return cls_; }
  std::int32_t sep() const { return sep_; }
  /// SHA-256 of the tokens: the same for the same vocabulary, however its lines end.
  std::string content_hash() const;

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::int32_t pad_ = 0, unknown_ = 0, cls_ = 0, sep_ = 0;
};

}  // namespace falcon::data
