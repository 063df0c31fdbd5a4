// A made-up WordPiece vocabulary with the size and the special places of BERT's: [PAD] 0, [UNK]
// 100, [CLS] 101, [SEP] 102, [MASK] 103, ASCII characters from 999 (so a comma is 1010, a full stop
// 1012, a question mark 1029). The words are English function words and made-up ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace falcon::data {

struct MadeVocabulary {
  static constexpr std::size_t kSize = 30522;
  std::vector<std::string> tokens;    // kSize, in the order of their ids
  std::vector<std::string> function;  // "the", "of", ...: most frequent first; all are tokens
  std::vector<std::string> content;   // made-up words that are tokens
};

/// Always the same.
MadeVocabulary made_vocabulary();

/// A made-up word of so many syllables; the same for the same numbers.
std::string made_word(std::uint64_t seed, std::uint64_t index, int syllables);

}  // namespace falcon::data
