#include "data/made_vocabulary.h"

#include <array>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/counter_random.h"
#include "base/text.h"

namespace falcon::data {
namespace {

constexpr std::string_view kFunctionWords =
    "the of and in to a was is for as on by with that it at from his he an are were which be this "
    "had or has its also not but one their first have been after who two they other into more most "
    "some when during time than only all between however such over three many there these under "
    "while about used through where became both can being new later before would known made early "
    "part year since second against several then around because called four often well including "
    "each will although until within large major number among much what how why whose whom did "
    "does "
    "do s t according held found given born same end years century name long";

constexpr std::array kOnsets = {"b", "br", "c",  "ch", "d",  "dr", "f", "g",  "gr",
                                "h", "j",  "k",  "l",  "m",  "n",  "p", "pr", "r",
                                "s", "sh", "st", "t",  "th", "tr", "v", "w",  "z"};
constexpr std::array kVowels = {"a", "e", "i", "o", "u", "ea", "ai", "ou"};
constexpr std::array kCodas = {"", "", "n", "r", "s", "l", "t", "m", "nd", "rt", "st", "ck"};

template <std::size_t n>
std::string_view draw(const std::array<const char*, n>& list, base::CounterRandom& random) {
  return list[random.below(n)];
}

class Builder {
 public:
  /// False when it was there already, or all places are taken.
  bool add(std::string token) {
    if (tokens_.size() >= MadeVocabulary::kSize || !known_.insert(token).second) return false;
    tokens_.push_back(std::move(token));
    return true;
  }
  void add_unused(int count) {
    for (; count > 0; --count) add("[unused" + std::to_string(unused_++) + "]");
  }
  std::size_t size() const { return tokens_.size(); }
  std::vector<std::string> take() { return std::move(tokens_); }

 private:
  std::vector<std::string> tokens_;
  std::unordered_set<std::string> known_;
  int unused_ = 0;
};

void add_characters(Builder& builder) {
  for (char c = 0x21; c < 0x7F; ++c) {
    if (c < 'A' || c > 'Z') builder.add(std::string(1, c));
  }
  for (const char* other :
       {"\u2013", "\u2014", "\u2018", "\u2019", "\u201c", "\u201d", "\u00a3", "\u00b0"}) {
    builder.add(other);
  }
  for (char c = 'a'; c <= 'z'; ++c) builder.add(std::string("##") + c);
  for (char c = '0'; c <= '9'; ++c) builder.add(std::string("##") + c);
}

// Pieces that continue a word: a fifth of the vocabulary, as in BERT's.
void add_endings(Builder& builder, std::size_t count) {
  for (const char* ending : {"##s", "##ed", "##ing", "##er", "##ly", "##tion", "##al", "##est"}) {
    builder.add(ending);
  }
  const std::size_t end = builder.size() + count;
  for (std::uint64_t i = 0; builder.size() < end; ++i) {
    builder.add("##" + made_word(2, i, i % 3 == 0 ? 2 : 1));
  }
}

}  // namespace

std::string made_word(std::uint64_t seed, std::uint64_t index, int syllables) {
  base::CounterRandom random({seed, 0x776F7264, index});  // "word"
  std::string word;
  for (int i = 0; i < syllables; ++i) {
    word += draw(kOnsets, random);
    word += draw(kVowels, random);
    if (i + 1 == syllables || random.uniform() < 0.3) word += draw(kCodas, random);
  }
  return word;
}

MadeVocabulary made_vocabulary() {
  Builder builder;
  MadeVocabulary vocabulary;
  builder.add("[PAD]");
  builder.add_unused(99);
  for (const char* special : {"[UNK]", "[CLS]", "[SEP]", "[MASK]"}) builder.add(special);
  builder.add_unused(895);
  add_characters(builder);
  for (const std::string& word : base::split(kFunctionWords, ' ')) {
    builder.add(word);  // "a", "s" and "t" are there as characters
    vocabulary.function.push_back(word);
  }
  for (int number = 10; number < 100; ++number) builder.add(std::to_string(number));
  for (int year = 1700; year < 2030; ++year) builder.add(std::to_string(year));
  add_endings(builder, 5600);
  for (std::uint64_t i = 0; builder.size() < MadeVocabulary::kSize; ++i) {
    std::string word = made_word(1, i, 1 + static_cast<int>(i % 3));
    if (word.size() > 2 && builder.add(word)) vocabulary.content.push_back(std::move(word));
  }
  vocabulary.tokens = builder.take();
  return vocabulary;
}

}  // namespace falcon::data
