#include "data/squad_cache.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/codec.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/file_bytes.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

constexpr int kLayoutVersion = 1;                            // of the file of numbers
constexpr std::uint64_t kByteOrder = 0x0102030405060708ULL;  // as this machine writes it
constexpr std::size_t kMaxBytes = std::size_t{1} << 40;

// What a cache is of, then what belongs to the tokens, then the file of numbers.
struct Manifest {
  std::string file_sha256, vocabulary_sha256;
  int tokenizer_version = kTokenizerVersion;
  int layout_version = kLayoutVersion;
  std::string version;
  std::int64_t articles = 0, paragraphs = 0, questions = 0, impossible = 0, answers = 0;
  std::int64_t repeated_ids = 0;
  std::map<std::string, std::int64_t> left_out;
  std::vector<SkippedItem> left_out_items;
  std::int64_t tokens = 0;
  std::int64_t bytes = 0;
  std::string sha256;
};
template <class V>
void visit_fields(Manifest& m, V& v) {
  v.field("file_sha256", m.file_sha256, "of the SQuAD file");
  v.field("vocabulary_sha256", m.vocabulary_sha256, "of the tokens of the vocabulary");
  v.field("tokenizer_version", m.tokenizer_version, "rules of the tokenizer");
  v.field("layout_version", m.layout_version, "layout of the file of numbers");
  v.field("version", m.version, "as the SQuAD file says");
  v.field("articles", m.articles, "articles");
  v.field("paragraphs", m.paragraphs, "paragraphs");
  v.field("questions", m.questions, "usable questions");
  v.field("impossible", m.impossible, "of these without an answer");
  v.field("answers", m.answers, "answers");
  v.field("repeated_ids", m.repeated_ids, "questions with the id of another one");
  v.field("left_out", m.left_out, "questions left out, by reason");
  v.field("left_out_items", m.left_out_items, "the first of them");
  v.field("tokens", m.tokens, "tokens of all contexts and questions");
  v.field("bytes", m.bytes, "of the file of numbers");
  v.field("sha256", m.sha256, "of the file of numbers");
}

class NumberWriter {
 public:
  template <class T>
  void one(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void list(const std::vector<T>& values) {
    static_assert(std::has_unique_object_representations_v<T>);  // no padding
    one(static_cast<std::uint64_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void text(const std::string& value) { list(std::vector<char>(value.begin(), value.end())); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what NumberWriter wrote; is_good() is false when there was less, or more.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T one() {
    T value{};
    take(&value, sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> list() {
    const auto count = one<std::uint64_t>();
    if (count > rest_.size() / sizeof(T)) {
      is_short_ = true;
      return {};
    }
    std::vector<T> values(count);
    take(values.data(), count * sizeof(T));
    return values;
  }
  std::string text() {
    const std::vector<char> letters = list<char>();
    return {letters.begin(), letters.end()};
  }
  bool is_good() const { return !is_short_ && rest_.empty(); }

 private:
  void take(void* out, std::size_t bytes) {
    if (bytes > rest_.size()) {
      is_short_ = true;
      return;
    }
    if (bytes > 0) std::memcpy(out, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }
  std::string_view rest_;
  bool is_short_ = false;
};

std::string numbers_of(const SquadTokens& tokens) {
  NumberWriter out;
  out.one(kByteOrder);
  out.list(tokens.ids);
  out.list(tokens.begins);
  out.list(tokens.ends);
  out.list(tokens.contexts);
  out.list(tokens.questions);
  for (const std::string& id : tokens.question_ids) out.text(id);
  return out.bytes();
}

bool read_numbers(std::string_view bytes, SquadTokens& tokens) {
  NumberReader in(bytes);
  const bool is_ours = in.one<std::uint64_t>() == kByteOrder;
  tokens.ids = in.list<std::int32_t>();
  tokens.begins = in.list<std::uint32_t>();
  tokens.ends = in.list<std::uint32_t>();
  tokens.contexts = in.list<SquadTokens::Context>();
  tokens.questions = in.list<SquadTokens::Question>();
  for (std::size_t q = 0; q < tokens.questions.size(); ++q) {
    tokens.question_ids.push_back(in.text());
  }
  return is_ours && in.is_good();
}

Manifest manifest_of(const SquadTokens& tokens, Manifest manifest) {
  const SquadFileFacts& facts = tokens.facts;
  manifest.version = facts.version;
  manifest.articles = facts.articles;
  manifest.paragraphs = facts.paragraphs;
  manifest.questions = facts.questions;
  manifest.impossible = facts.impossible;
  manifest.answers = facts.answers;
  manifest.repeated_ids = facts.repeated_ids;
  manifest.left_out = tokens.left_out.counts();
  manifest.left_out_items = tokens.left_out.kept();
  manifest.tokens = static_cast<std::int64_t>(tokens.ids.size());
  return manifest;
}

void take_manifest(const Manifest& manifest, SquadTokens& tokens) {
  tokens.facts = {manifest.version,    manifest.articles, manifest.paragraphs,  manifest.questions,
                  manifest.impossible, manifest.answers,  manifest.repeated_ids};
  tokens.left_out = SkipLog(manifest.left_out_items, manifest.left_out);
}

// The manifest of the same inputs, and its numbers. Nothing, with a note, when they are not there
// or not whole.
std::optional<SquadTokens> read_cache(const fs::path& manifest_path, const Manifest& wanted,
                                      std::string& note) {
  const fs::path numbers_path = fs::path(manifest_path).replace_extension(".tokens");
  std::error_code error;
  if (!fs::exists(manifest_path, error)) return std::nullopt;
  try {
    const auto found = base::from_value<Manifest>(
        base::parse_json(base::read_file(manifest_path.native()), manifest_path.native()));
    const std::string numbers = base::read_file(numbers_path.native(), ExitCode::kUsage, kMaxBytes);
    SquadTokens tokens;
    const bool is_whole = found.file_sha256 == wanted.file_sha256 &&
                          found.vocabulary_sha256 == wanted.vocabulary_sha256 &&
                          found.tokenizer_version == wanted.tokenizer_version &&
                          found.layout_version == wanted.layout_version &&
                          found.sha256 == base::sha256_hex(numbers) &&
                          read_numbers(numbers, tokens);
    if (!is_whole) throw Error(ExitCode::kUsage, numbers_path.native() + ": is not what was kept");
    take_manifest(found, tokens);
    return tokens;
  } catch (const Error& damage) {
    note = std::string("made anew: ") + damage.what();
    return std::nullopt;
  }
}

// True when it was kept in this folder.
bool write_cache(const fs::path& manifest_path, const SquadTokens& tokens, Manifest manifest) {
  const std::string numbers = numbers_of(tokens);
  manifest = manifest_of(tokens, std::move(manifest));
  manifest.bytes = static_cast<std::int64_t>(numbers.size());
  manifest.sha256 = base::sha256_hex(numbers);
  std::error_code error;
  fs::create_directories(manifest_path.parent_path(), error);
  if (error) return false;
  try {
    base::write_file_atomically(fs::path(manifest_path).replace_extension(".tokens").native(),
                                numbers);
    base::write_file_atomically(manifest_path.native(),
                                base::to_json(base::to_value(manifest), 1) + "\n");
    return true;
  } catch (const Error&) {  // read-only or full: the next folder
    return false;
  }
}

std::string cache_name(const fs::path& file, const Manifest& inputs) {
  const std::string key = inputs.file_sha256 + " " + inputs.vocabulary_sha256 + " " +
                          std::to_string(inputs.tokenizer_version) + " " +
                          std::to_string(inputs.layout_version);
  return file.stem().native() + "-" + base::sha256_hex(key).substr(0, 16) + ".json";
}

std::string file_hash(const fs::path& file, const FileAccess& access) {
  FileBytes content;
  std::string problem;
  if (!content.read(file, problem, access)) {
    throw Error(ExitCode::kHost, base::printable(file.native(), 400) + ": " + problem);
  }
  const std::span<const std::byte> bytes = content.bytes();
  return base::sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::vector<fs::path> cache_folders(const fs::path& data_folder) {
  std::vector<fs::path> folders = {data_folder / ".falconbench-cache"};
  const char* cache_home = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache_home != nullptr && *cache_home == '/') {
    folders.push_back(fs::path(cache_home) / "falconbench");
  } else if (home != nullptr && *home == '/') {
    folders.push_back(fs::path(home) / ".cache/falconbench");
  }
  return folders;
}

CachedTokens cached_squad_tokens(const fs::path& file, const Vocabulary& vocabulary, int threads,
                                 const FileAccess& access) {
  CachedTokens out;
  Manifest inputs;
  inputs.file_sha256 = file_hash(file, access);
  inputs.vocabulary_sha256 = vocabulary.content_hash();
  const std::string name = cache_name(file, inputs);
  const std::vector<fs::path> folders = cache_folders(file.parent_path());
  for (const fs::path& folder : folders) {
    std::optional<SquadTokens> found = read_cache(folder / name, inputs, out.note);
    if (!found) continue;
    out.tokens = std::move(*found);
    out.was_cached = true;
    out.cache = folder / name;
    out.note.clear();
    return out;
  }
  out.tokens = tokenize_squad(file, WordPiece(vocabulary), threads);
  for (const fs::path& folder : folders) {
    if (!write_cache(folder / name, out.tokens, inputs)) continue;
    out.cache = folder / name;
    return out;
  }
  out.note = "not kept: cannot write to " + base::printable(folders.front().native(), 300) +
             (folders.size() > 1 ? " nor to " + base::printable(folders[1].native(), 300) : "");
  return out;
}

}  // namespace falcon::data
