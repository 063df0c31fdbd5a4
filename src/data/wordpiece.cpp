#include "data/wordpiece.h"

#include <algorithm>
#include <array>
#include <bit>

#include "data/unicode.h"

namespace falcon::data {
namespace {

constexpr std::size_t kLongestWord = 100;  // characters; a longer word is unknown
constexpr std::string_view kContinues = "##";

// FNV-1a, so that the hashes of all beginnings of a word come from one pass over it.
constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325U;
constexpr std::uint64_t fnv(std::uint64_t hash, char byte) {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
}
constexpr std::uint64_t fnv(std::string_view text, std::uint64_t hash = kFnvStart) {
  for (const char byte : text) hash = fnv(hash, byte);
  return hash;
}
constexpr std::uint64_t kFnvContinues = fnv(kContinues);

enum class Role : std::uint8_t { kDrop, kSpace, kPunctuation, kWord };

constexpr std::array<Role, 128> ascii_roles() {
  std::array<Role, 128> roles{};
  for (std::size_t c = 0; c < roles.size(); ++c) {
    const bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    roles[c] = is_space              ? Role::kSpace
               : is_word             ? Role::kWord
               : c > ' ' && c < 0x7F ? Role::kPunctuation  // also $+<=>^`|~, which are symbols
                                     : Role::kDrop;
  }
  return roles;
}
constexpr std::array<Role, 128> kAsciiRoles = ascii_roles();

}  // namespace

// Collects the characters of one word, and looks its pieces up at its end.
class WordSplitter {
 public:
  WordSplitter(const WordPiece& owner, std::vector<Token>& out) : owner_(owner), out_(out) {}

  /// `index`: of the text's first character, counted from the start of the whole text.
  void add_text(std::string_view text, std::uint32_t index) {
    std::size_t at = 0;
    while (at < text.size()) {
      const char32_t c = unicode::next(text, at);
      if (c < 0x80) {
        if (!waiting_.empty()) flush_waiting();
        add_ascii(static_cast<char>(c), index);
      } else {
        add_other(c, index);
      }
      ++index;
    }
    flush_waiting();
    flush_word();
  }

 private:
  struct Place {
    std::size_t byte;     // in word_
    std::uint32_t index;  // in the text
  };
  struct Waiting {
    char32_t c;
    std::uint32_t index;
    int combining_class;
  };

  void add_ascii(char c, std::uint32_t index) {
    switch (kAsciiRoles[static_cast<unsigned char>(c)]) {
      case Role::kSpace:
        return flush_word();
      case Role::kPunctuation:
        flush_word();
        places_.push_back({0, index});
        word_ = c;
        return flush_word();
      case Role::kWord:
        places_.push_back({word_.size(), index});
        word_ += static_cast<char>(unicode::lower(static_cast<unsigned char>(c)));
        return;
      case Role::kDrop:
        return;
    }
  }

  void add_other(char32_t c, std::uint32_t index) {
    if (c == 0xFFFD || unicode::kind(c) == unicode::Kind::kDropped) return;
    const bool stands_alone = unicode::is_ideograph(c);
    if (stands_alone || unicode::is_white_space(c)) {
      flush_waiting();
      flush_word();
      if (!stands_alone) return;
    }
    std::array<char32_t, 32> parts{};
    const std::size_t count = unicode::decompose(c, parts);
    for (std::size_t i = 0; i < count; ++i) add_decomposed(parts[i], index);
    if (!stands_alone) return;
    flush_waiting();
    flush_word();
  }

  // Characters with a combining class wait for the end of their run: canonical order.
  void add_decomposed(char32_t c, std::uint32_t index) {
    const int combining_class = unicode::combining_class(c);
    if (combining_class == 0) flush_waiting();
    if (unicode::kind(c) == unicode::Kind::kNonspacingMark) return;  // an accent
    if (combining_class == 0) return add_character(c, index);
    waiting_.push_back({c, index, combining_class});
  }

  void flush_waiting() {
    std::ranges::stable_sort(waiting_, {}, &Waiting::combining_class);
    for (const Waiting& one : waiting_) add_character(one.c, one.index);
    waiting_.clear();
  }

  void add_character(char32_t c, std::uint32_t index) {
    if (c < 0x80) return add_ascii(static_cast<char>(c), index);
    const bool stands_alone = unicode::kind(c) == unicode::Kind::kPunctuation;
    if (stands_alone) flush_word();
    places_.push_back({word_.size(), index});
    unicode::append(word_, unicode::lower(c));
    if (stands_alone) flush_word();
  }

  void flush_word() {
    if (places_.empty()) return;
    const std::size_t first_token = out_.size();
    bool is_known = places_.size() <= kLongestWord;
    for (std::size_t at = 0; is_known && at < places_.size();) {
      const std::size_t next = add_longest_piece(at);
      is_known = next > at;
      at = next;
    }
    if (!is_known) {
      out_.resize(first_token);
      out_.push_back({owner_.unknown_, places_.front().index, places_.back().index + 1});
    }
    places_.clear();
    word_.clear();
  }

  // The place behind the longest token that starts at places_[at]; `at` when there is none.
  std::size_t add_longest_piece(std::size_t at) {
    const bool continues = at > 0;
    const std::size_t first_byte = places_[at].byte;
    const auto end_byte = [&](std::size_t place) {
      return place + 1 < places_.size() ? places_[place + 1].byte : word_.size();
    };
    hashes_.clear();
    std::uint64_t hash = continues ? kFnvContinues : kFnvStart;
    for (std::size_t place = at; place < places_.size(); ++place) {
      if (end_byte(place) - first_byte > owner_.longest_) break;
      for (std::size_t byte = places_[place].byte; byte < end_byte(place); ++byte) {
        hash = fnv(hash, word_[byte]);
      }
      hashes_.push_back(hash);
    }
    for (std::size_t length = hashes_.size(); length > 0; --length) {
      const std::size_t last = at + length - 1;
      const std::string_view piece =
          std::string_view(word_).substr(first_byte, end_byte(last) - first_byte);
      const std::int32_t id = owner_.find(hashes_[length - 1], piece, continues);
      if (id < 0) continue;
      out_.push_back({id, places_[at].index, places_[last].index + 1});
      return at + length;
    }
    return at;
  }

  const WordPiece& owner_;
  std::vector<Token>& out_;
  std::string word_;
  std::vector<Place> places_;  // of the word's characters
  std::vector<std::uint64_t> hashes_;
  std::vector<Waiting> waiting_;
};

WordPiece::WordPiece(const Vocabulary& vocabulary) : unknown_(vocabulary.unknown()) {
  tokens_.reserve(static_cast<std::size_t>(vocabulary.size()));
  slots_.resize(std::bit_ceil(2 * static_cast<std::size_t>(vocabulary.size())));
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& token = vocabulary.token(id);
    tokens_.push_back(token);
    longest_ = std::max(longest_, token.size());
    insert(fnv(token), id);
  }
  for (const char* text : {"[UNK]", "[SEP]", "[CLS]", "[PAD]", "[MASK]"}) {
    if (const auto id = vocabulary.find(text)) specials_.push_back({text, *id});
  }
}

void WordPiece::insert(std::uint64_t hash, std::int32_t id) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id >= 0) at = (at + 1) & mask;
  slots_[at] = {hash, id};
}

std::int32_t WordPiece::find(std::uint64_t hash, std::string_view piece, bool continues) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].id >= 0; at = (at + 1) & mask) {
    if (slots_[at].hash != hash) continue;
    std::string_view token = tokens_[static_cast<std::size_t>(slots_[at].id)];
    if (continues) {
      if (!token.starts_with(kContinues)) continue;
      token.remove_prefix(kContinues.size());
    }
    if (token == piece) return slots_[at].id;
  }
  return -1;
}

const WordPiece::Special* WordPiece::special_at(std::string_view text) const {
  for (const Special& special : specials_) {
    if (text.starts_with(special.text)) return &special;
  }
  return nullptr;
}

void WordPiece::encode(std::string_view text, std::vector<Token>& tokens) const {
  WordSplitter splitter(*this, tokens);
  std::uint32_t index = 0;  // of the character text[0]
  std::size_t from = 0;
  while (true) {
    const std::size_t bracket = text.find('[', from);
    if (bracket == std::string_view::npos) break;
    const Special* special = special_at(text.substr(bracket));
    from = bracket + 1;
    if (special == nullptr) continue;
    splitter.add_text(text.substr(0, bracket), index);
    index += static_cast<std::uint32_t>(unicode::length(text.substr(0, bracket)));
    const auto length = static_cast<std::uint32_t>(special->text.size());
    tokens.push_back({special->id, index, index + length});
    index += length;
    text.remove_prefix(bracket + length);
    from = 0;
  }
  splitter.add_text(text, index);
}

std::vector<Token> WordPiece::encode(std::string_view text) const {
  std::vector<Token> tokens;
  encode(text, tokens);
  return tokens;
}

}  // namespace falcon::data
