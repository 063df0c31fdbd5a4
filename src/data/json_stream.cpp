#include "data/json_stream.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

Error file_error(const std::filesystem::path& file, const std::string& problem) {
  return Error(ExitCode::kHost, base::printable(file.native(), 400) + ": " + problem);
}

class ChunkedFile {
 public:
  explicit ChunkedFile(const std::filesystem::path& path) : path_(path), chunk_(kChunkBytes) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw file_error(path, "it is a folder");
    file_.reset(std::fopen(path.c_str(), "rbe"));
    if (!file_) throw file_error(path, std::generic_category().message(errno));
  }
  bool at_end() { return at_ == end_ && !refill(); }
  char now() const { return chunk_[at_]; }
  void advance() {
    ++at_;
    ++offset_;
  }
  const std::uint64_t& offset() const { return offset_; }

 private:
  bool refill() {
    at_ = 0;
    end_ = std::fread(chunk_.data(), 1, chunk_.size(), file_.get());
    if (end_ == 0 && std::ferror(file_.get()) != 0) {
      throw file_error(path_, std::generic_category().message(errno));
    }
    return end_ > 0;
  }

  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::filesystem::path path_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::vector<char> chunk_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
};

// All copies stand at the same place of the file. A default one is the end.
class ChunkIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit ChunkIterator(ChunkedFile* file = nullptr) : file_(file) {}
  char operator*() const { return file_->now(); }
  ChunkIterator& operator++() {
    file_->advance();
    return *this;
  }
  ChunkIterator operator++(int) {
    ChunkIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const ChunkIterator& other) const {
    const bool is_end = file_ == nullptr || file_->at_end();
    const bool other_is_end = other.file_ == nullptr || other.file_->at_end();
    return is_end == other_is_end;
  }
  bool operator!=(const ChunkIterator& other) const { return !(*this == other); }

 private:
  ChunkedFile* file_;
};

std::string in_words(std::string what) {
  if (what.find("out_of_range") != std::string::npos) {
    return "a number beyond the range of a double";
  }
  if (what.find("expected end of input") != std::string::npos) {
    return "more text behind the document";
  }
  const std::string lead = "syntax error ";
  if (const std::size_t start = what.find(lead); start != std::string::npos) {
    what = what.substr(start + lead.size());
  }
  return "invalid JSON " + base::printable(what.substr(0, what.find("; last read")), 160);
}

}  // namespace

bool JsonEvents::parse_error(std::size_t, const std::string&,
                             const nlohmann::detail::exception& error) {
  error_ = error.what();
  return false;
}

void stream_json(const std::filesystem::path& file, JsonEvents& events) {
  ChunkedFile chunks(file);
  events.offset_ = &chunks.offset();
  const bool good = nlohmann::json::sax_parse(ChunkIterator(&chunks), ChunkIterator(), &events);
  events.offset_ = nullptr;
  if (good) return;
  const std::uint64_t read = chunks.offset();
  if (read == 0) refuse_json(file, 0, "is empty, expected a JSON value");
  const bool is_cut = events.error_.find("unexpected end of input") != std::string::npos ||
                      events.error_.find("missing closing quote") != std::string::npos;
  if (is_cut && chunks.at_end()) {
    refuse_json(file, read,
                "ends in the middle of a value, after " + std::to_string(read) + " bytes");
  }
  refuse_json(file, read > 0 ? read - 1 : 0, in_words(events.error_));
}

void refuse_json(const std::filesystem::path& file, std::uint64_t offset,
                 const std::string& message) {
  std::ifstream text(file, std::ios::binary);
  int line = 1;
  int column = 1;
  char c = 0;
  for (std::uint64_t i = 0; i < offset && text.get(c); ++i) {
    ++column;
    if (c == '\n') {
      ++line;
      column = 1;
    }
  }
  throw InputError({Fault{file.native(), line, column, "", message}});
}

}  // namespace falcon::data
