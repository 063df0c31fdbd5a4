// The uncased BERT tokenizer: text to WordPiece ids with the place of each in the text. It follows
// the library that models are trained with today (Hugging Face tokenizers, BertWordPieceTokenizer
// with lowercase), where that one departs from the published code (google-research/bert,
// tokenization.py) too:
//   - characters are lowered one by one, so a final capital sigma is the same as any other;
//   - private-use characters are dropped (published: they make the word unknown);
//   - "[SEP]", "[CLS]", "[PAD]", "[UNK]" and "[MASK]" in a text are the special tokens (published:
//     bracket, word, bracket). Whoever trains on text from strangers may want to know.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary.h"

namespace falcon::data {

struct Token {
  std::int32_t id = 0;
  std::uint32_t begin = 0;  // characters (code points) of the text, from the first that counts
  std::uint32_t end = 0;    // to behind the last
  friend bool operator==(const Token&, const Token&) = default;
};

/// Changes whenever the same text may give other tokens: part of the names of cached tokens.
inline constexpr int kTokenizerVersion = 1;

/// Thread-safe after construction.
class WordPiece {
 public:
  explicit WordPiece(const Vocabulary& vocabulary);

  /// Appends the tokens of a text of valid UTF-8, without [CLS] and [SEP] around it.
  void encode(std::string_view text, std::vector<Token>& tokens) const;
  std::vector<Token> encode(std::string_view text) const;

 private:
  friend class WordSplitter;
  struct Slot {
    std::uint64_t hash = 0;
    std::int32_t id = -1;  // -1: free
  };
  struct Special {
    std::string text;
    std::int32_t id;
  };

  void insert(std::uint64_t hash, std::int32_t id);
  /// The token whose text (with ## before it when it continues a word) is `piece`, or -1.
  std::int32_t find(std::uint64_t hash, std::string_view piece, bool continues) const;
  const Special* special_at(std::string_view text) const;

  std::vector<std::string> tokens_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::size_t longest_ = 0;  // bytes of the longest token
  std::vector<Special> specials_;
  std::int32_t unknown_;
};

}  // namespace falcon::data
