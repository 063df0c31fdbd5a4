#include "data/check_squad.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "data/make_squad.h"
#include "data/squad_file.h"
#include "data/vocabulary.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 40;

std::vector<fs::path> files_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (name != kManifestName && name.ends_with(".json")) files.push_back(entry.path());
  }
  if (error) {
    throw Error(ExitCode::kHost, base::printable(path.native(), 400) + ": " + error.message());
  }
  std::ranges::sort(files);
  if (files.empty()) {
    throw Error(ExitCode::kHost,
                base::printable(path.native(), 400) + ": no SQuAD file (*.json) in this folder");
  }
  return files;
}

void check_file(const fs::path& file, SetCheck& check, SquadFileFacts& sum) {
  const std::string name = file.filename();
  try {
    const SquadFileFacts facts = read_squad(
        file, [](SquadParagraph&&) {},
        [&](SkippedItem item) {
          item.item = name + " " + item.item;
          check.left_out.push_back(std::move(item));
        });
    if (facts.repeated_ids > 0) {
      check.warnings.push_back(
          name + ": " + std::to_string(facts.repeated_ids) +
          " questions have the id of another one; predictions by id mix them up");
    }
    sum.paragraphs += facts.paragraphs;
    sum.questions += facts.questions;
    sum.impossible += facts.impossible;
  } catch (const Error& error) {
    check.left_out.push_back({name, "unreadable", error.what()});
  }
}

void check_vocabulary(const fs::path& file, SetCheck& check) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    check.warnings.push_back("no " + std::string(kVocabularyName) +
                             ": training needs one, here or as data.vocab");
    return;
  }
  try {
    Vocabulary::read(file);
  } catch (const Error& fault) {
    check.left_out.push_back({kVocabularyName, "vocabulary", fault.what()});
  }
}

}  // namespace

SetCheck check_squad_set(const fs::path& path) {
  SetCheck check;
  SquadFileFacts sum;
  SetContent content;
  const std::vector<fs::path> files = files_of(path);
  for (const fs::path& file : files) check_file(file, check, sum);
  std::error_code error;
  if (fs::is_directory(path, error)) {
    check_vocabulary(path / kVocabularyName, check);
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename();
      if (!is_squad_file_name(name)) continue;
      const std::string text = base::read_file(entry.path().native(), ExitCode::kHost, kMaxBytes);
      content.add(name, std::as_bytes(std::span(text)));
    }
    std::string warning = manifest_warning(path, content);
    if (!warning.empty()) check.warnings.push_back(std::move(warning));
  }
  std::ranges::stable_sort(check.left_out, {}, &SkippedItem::item);
  check.summary = std::to_string(sum.questions) + " usable questions (" +
                  std::to_string(sum.impossible) + " of them impossible) on " +
                  std::to_string(sum.paragraphs) + " paragraphs in " +
                  std::to_string(files.size()) + " files; " +
                  std::to_string(check.left_out.size()) + " left out";
  return check;
}

}  // namespace falcon::data
