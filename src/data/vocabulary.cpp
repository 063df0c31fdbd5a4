#include "data/vocabulary.h"

#include "base/files.h"
#include "base/sha256.h"
#include "base/source_text.h"
#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

Fault fault_in(const std::string& source, std::size_t line, const std::string& message) {
  return {source, static_cast<int>(line), line > 0 ? 1 : 0, "", message};
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

Vocabulary Vocabulary::read(const std::filesystem::path& file) {
  return Vocabulary(base::read_file(file.native(), ExitCode::kHost), file.native());
}

Vocabulary::Vocabulary(std::string_view text, const std::string& source) {
  const base::SourceText checked(text, source);
  std::vector<Fault> faults;
  for (const std::string_view line : lines_of(checked.text())) {
    const std::size_t number = tokens_.size() + 1;
    if (line.empty()) {
      faults.push_back(fault_in(source, number, "an empty line, a token is expected"));
    }
    const auto [found, is_new] = ids_.try_emplace(std::string(line), tokens_.size());
    if (!is_new && !line.empty()) {
      faults.push_back(fault_in(source, number,
                                "the token \"" + base::printable(line) +
                                    "\" is given twice, first in line " +
                                    std::to_string(found->second + 1)));
    }
    tokens_.emplace_back(line);
  }
  struct Special {
    const char* token;
    std::int32_t& id;
  };
  for (const auto& [token, id] : {Special{"[PAD]", pad_}, Special{"[UNK]", unknown_},
                                  Special{"[CLS]", cls_}, Special{"[SEP]", sep_}}) {
    const std::optional<std::int32_t> found = find(token);
    if (!found) {
      faults.push_back(fault_in(source, 0,
                                "the token " + std::string(token) + " is missing among " +
                                    std::to_string(tokens_.size()) +
                                    "; a vocabulary has one token a line, with [PAD], [UNK], "
                                    "[CLS] and [SEP]"));
    }
    id = found.value_or(0);
  }
  if (!faults.empty()) throw InputError(std::move(faults));
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(std::string(token));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::string Vocabulary::content_hash() const {
  std::string all;
  for (const std::string& token : tokens_) {
    all += token;
    all += '\n';
  }
  return base::sha256_hex(all);
}

}  // namespace falcon::data
