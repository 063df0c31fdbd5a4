#include "data/squad.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "base/text.h"
#include "data/made_set.h"
#include "data/question_layout.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

std::string shown(const fs::path& path) {
  return base::printable(path.native(), 400);
}

// A missing file is told with those that are there.
fs::path existing(const fs::path& file, std::string_view key) {
  std::error_code error;
  if (fs::is_regular_file(file, error)) return file;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(file.parent_path(), error)) {
    const std::string name = entry.path().filename();
    if (name == kManifestName || !name.ends_with(file.extension().native())) continue;
    names.push_back(name);
  }
  std::ranges::sort(names);
  throw Error(ExitCode::kHost, shown(file) + ": no such file (data." + std::string(key) + "); " +
                                   (names.empty() ? "no file like it is there"
                                                  : "there: " + base::join(names, ", ")));
}

WindowOptions window_options(const DatasetOptions& options) {
  const WindowOptions windows{options.sequence_length, options.doc_stride};
  if (windows.sequence_length < 8) {
    throw Error(ExitCode::kUsage, "squad: the sequence length is " +
                                      std::to_string(windows.sequence_length) +
                                      ", it must be 8 or more");
  }
  // [CLS], both [SEP] and one token of a question leave this for the context
  const std::int64_t room = windows.sequence_length - 4;
  if (windows.doc_stride < 0 || windows.doc_stride >= room) {
    throw Error(ExitCode::kUsage, "data.doc_stride (" + std::to_string(windows.doc_stride) +
                                      ") is the overlap of two windows: it must be 0 to " +
                                      std::to_string(room - 1) + " at a sequence length of " +
                                      std::to_string(windows.sequence_length));
  }
  return windows;
}

}  // namespace

Squad::Squad(const DatasetOptions& options)
    : file_(existing(options.path / options.subfolder, options.evaluation ? "val" : "train")),
      access_(options.io, file_),
      vocabulary_(Vocabulary::read(existing(options.path / options.vocab, "vocab"))),
      windows_(window_options(options)),
      cached_(cached_squad_tokens(file_, vocabulary_, options.threads, access_)) {
  SquadTokens& tokens = cached_.tokens;
  features_ = make_features(tokens, windows_, [&](std::size_t q) {
    tokens.left_out.add({tokens.question_ids[q], "question_too_long",
                         "its " + std::to_string(tokens.questions[q].tokens.count) +
                             " tokens leave no room for the context at a sequence length of " +
                             std::to_string(windows_.sequence_length) + " and a doc_stride of " +
                             std::to_string(windows_.doc_stride)});
  });
  if (options.evaluation) texts_ = read_squad_texts(file_, tokens);
  if (features_.empty()) {
    const std::string left_out = tokens.left_out.summary();
    throw Error(ExitCode::kHost, shown(file_) + ": no usable question" +
                                     (left_out.empty() ? "" : "; left out: " + left_out));
  }
}

std::vector<TensorLayout> Squad::layout() const {
  return question_layout(windows_.sequence_length);
}

std::unique_ptr<ReadScratch> Squad::make_scratch() const {
  return std::make_unique<ReadScratch>();
}

bool Squad::read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch&,
                 ReadCost& cost, SkippedItem&) const {
  const double start_s = steady_now_s();
  const SquadFeature& feature = features_[static_cast<std::size_t>(key.index)];
  const auto numbers = [&](std::size_t tensor) {
    return std::span(reinterpret_cast<std::int64_t*>(destinations[tensor]),
                     static_cast<std::size_t>(windows_.sequence_length));
  };
  write_sequence(cached_.tokens, feature, vocabulary_, {numbers(0), numbers(1), numbers(2)});
  const std::int64_t start = feature.start;
  const std::int64_t end = feature.end;
  std::memcpy(destinations[3], &start, sizeof start);
  std::memcpy(destinations[4], &end, sizeof end);
  cost.decode_s += steady_now_s() - start_s;
  return true;
}

std::map<std::string, std::string> Squad::facts() const {
  const SquadTokens& tokens = cached_.tokens;
  std::int64_t used = 0;
  std::int64_t answered = 0;
  for (const SquadFeature& feature : features_) {
    used += sequence_tokens(tokens, feature);
    answered += feature.end > 0 ? 1 : 0;
  }
  const double all = static_cast<double>(size() * windows_.sequence_length);
  std::map<std::string, std::string> facts = {
      {"format", "squad"},
      {"file", file_.native()},
      {"version", base::printable(tokens.facts.version)},
      {"questions", std::to_string(tokens.facts.questions)},
      {"impossible", std::to_string(tokens.facts.impossible)},
      {"contexts", std::to_string(tokens.contexts.size())},
      {"features", std::to_string(size())},
      {"features_with_answer", std::to_string(answered)},
      {"left_out_at_scan", std::to_string(tokens.left_out.count())},
      {"sequence_length", std::to_string(windows_.sequence_length)},
      {"doc_stride", std::to_string(windows_.doc_stride) + ", the overlap of two windows"},
      {"padding_share", base::number_text(1 - static_cast<double>(used) / all)},
      {"vocabulary_entries", std::to_string(vocabulary_.size())},
      {"tokens_from", cached_.was_cached ? "the cache" : "the text"}};
  if (!cached_.cache.empty()) facts["cache"] = cached_.cache.native();
  if (!cached_.note.empty()) facts["cache_note"] = cached_.note;
  return facts;
}

std::unique_ptr<Dataset> make_squad_dataset(const DatasetOptions& options) {
  return std::make_unique<Squad>(options);
}

}  // namespace falcon::data
