#include "platform/root.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"

namespace falcon::platform {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxCpu = 1 << 16;  // far above any machine; bounds what a damaged list can ask for

// Opened close-on-exec by hand: a worker may be started while a sampler thread reads.
int read_file(const std::string& path, std::string& out) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  char buffer[16384];
  int failure = 0;
  while (true) {
    const ssize_t got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failure = errno;
    if (got <= 0) break;
    out.append(buffer, static_cast<std::size_t>(got));
  }
  close(file);
  return failure;
}

bool parse_number(std::string_view text, std::int64_t& out) {
  const std::string_view bare = base::trim(text);
  const auto [end, error] = std::from_chars(bare.data(), bare.data() + bare.size(), out);
  return error == std::errc() && end == bare.data() + bare.size();
}

}  // namespace

Root::Root(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (path_.empty()) path_ = "/";
}

Root::Root(FileTree tree)
    : path_("/nonexistent"), tree_(std::make_shared<const FileTree>(std::move(tree))) {}

std::string Root::at(std::string_view relative) const {
  return (path_ == "/" ? path_ : path_ + "/") + std::string(relative);
}

Measured<std::string> Root::read(std::string_view relative) const {
  std::string out;
  int failure = 0;
  if (tree_ == nullptr) {
    failure = read_file(at(relative), out);
  } else if (const auto text = tree_->read(relative)) {
    out = *text;
  } else {
    failure = ENOENT;
  }
  if (failure != 0) {
    return Measured<std::string>::missing("/" + std::string(relative) + ": " +
                                          std::generic_category().message(failure));
  }
  return out;
}

Measured<std::string> Root::text(std::string_view relative) const {
  Measured<std::string> whole = read(relative);
  if (!whole.has_value()) return whole;
  const std::string_view bare = base::trim(*whole);
  if (bare.empty()) {
    return Measured<std::string>::missing("/" + std::string(relative) + " is empty");
  }
  return std::string(bare);
}

Measured<std::int64_t> Root::integer(std::string_view relative) const {
  const Measured<std::string> whole = text(relative);
  if (!whole.has_value()) return Measured<std::int64_t>::missing(whole.reason);
  std::int64_t number = 0;
  if (!parse_number(*whole, number)) {
    return Measured<std::int64_t>::missing("/" + std::string(relative) + " holds " +
                                           base::printable(*whole) + ", not a whole number");
  }
  return number;
}

bool Root::exists(std::string_view relative) const {
  if (tree_ != nullptr) return tree_->resolved(relative).has_value();
  std::error_code ignored;
  return fs::exists(at(relative), ignored);
}

std::vector<std::string> Root::names(std::string_view folder) const {
  if (tree_ != nullptr) return tree_->names(folder);
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(at(folder), error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Root::resolved(std::string_view relative) const {
  if (tree_ != nullptr) return tree_->resolved(relative).value_or("");
  std::error_code error;
  const fs::path whole = fs::canonical(at(relative), error);
  if (error) return "";
  const fs::path root = fs::canonical(path_, error);
  if (error) return "";
  const std::string below = whole.lexically_relative(root).string();
  return below.starts_with("..") ? "" : below;
}

Measured<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  if (parse_number(text, number)) return number;
  return Measured<std::int64_t>::missing(base::printable(text) + " is not a whole number");
}

Measured<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string& part : base::split(base::trim(text), ',')) {
    if (base::trim(part).empty()) continue;
    const std::size_t dash = part.find('-');
    std::int64_t first = 0;
    std::int64_t last = 0;
    const bool is_good =
        parse_number(std::string_view(part).substr(0, dash), first) &&
        (dash == std::string::npos ? (last = first, true)
                                   : parse_number(std::string_view(part).substr(dash + 1), last));
    if (!is_good || first < 0 || last < first || last >= kMaxCpu) {
      return Measured<std::vector<int>>::missing(base::printable(text) + " is not a list of CPUs");
    }
    for (std::int64_t cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

Measured<std::int64_t> number_after(std::string_view text, std::string_view word) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(word) || line.size() <= word.size()) continue;
    const std::string_view rest = line.substr(word.size());
    if (rest.front() != ' ' && rest.front() != '\t') continue;
    const std::size_t first = rest.find_first_not_of(" \t");
    std::int64_t number = 0;
    if (first != std::string_view::npos &&
        std::from_chars(rest.data() + first, rest.data() + rest.size(), number).ec == std::errc()) {
      return number;
    }
  }
  return Measured<std::int64_t>::missing("no number after " + std::string(word));
}

}  // namespace falcon::platform
