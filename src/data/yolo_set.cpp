#include "data/yolo_set.h"

#include <algorithm>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "data/file_bytes.h"
#include "data/file_kind.h"
#include "data/parallel_for.h"
#include "data/yolo_labels.h"
#include "falconbench/errors.h"
#include "spec/yaml.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void refuse(const base::Value& value, const std::string& key,
                         const std::string& message) {
  throw InputError({Fault{value.mark.source, value.mark.line, value.mark.column, key, message}});
}

std::string name_of(const base::Value& value) {
  if (value.is_text()) return value.as_text();
  if (value.is_number()) return base::number_text(value.as_number());
  refuse(value, "names", "is " + value.kind_text() + ", expected text");
}

// names: [person, bicycle] or names: {0: person, 1: bicycle}, the numbers in order.
std::vector<std::string> names_of(const base::Value& names) {
  std::vector<std::string> result;
  if (names.is_list()) {
    for (const base::Value& name : names.as_list()) result.push_back(name_of(name));
    return result;
  }
  if (!names.is_object()) {
    refuse(names, "names", "is " + names.kind_text() + ", expected a list or a map of names");
  }
  for (const base::Value::Member& member : names.as_object()) {
    if (member.name != std::to_string(result.size())) {
      refuse(
          member.value, "names." + base::printable(member.name),
          "expected the class " + std::to_string(result.size()) + " here: 0, 1, 2, ... in order");
    }
    result.push_back(name_of(member.value));
  }
  return result;
}

std::vector<std::string> numbered_classes(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

// Empty when there is no data.yaml.
std::vector<std::string> classes_of(const fs::path& folder) {
  const fs::path file = folder / "data.yaml";
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  const base::Value data = spec::parse_map_file(file.native());
  const base::Value* names = data.find("names");
  const base::Value* count = data.find("nc");
  if (count != nullptr && (!count->is_integer() || count->as_integer() < 1)) {
    refuse(*count, "nc", "is no number of classes, expected a whole number from 1");
  }
  if (names == nullptr) {
    if (count != nullptr) return numbered_classes(count->as_integer());
    throw InputError({Fault{file.native(), 0, 0, "", "has neither names nor nc"}});
  }
  std::vector<std::string> result = names_of(*names);
  if (count != nullptr && count->as_integer() != static_cast<std::int64_t>(result.size())) {
    refuse(*count, "nc",
           "is " + std::to_string(count->as_integer()) + ", but there are " +
               std::to_string(result.size()) + " names");
  }
  return result;
}

struct Folders {
  fs::path pictures;
  fs::path labels;
};

Folders folders_of(const DatasetOptions& options) {
  const fs::path part = options.subfolder;
  const fs::path pictures[] = {"images" / part, part / "images", "images"};
  const fs::path labels[] = {"labels" / part, part / "labels", "labels"};
  // an evaluation without its part would fall back on the folder that holds the training part too
  const std::size_t accepted = options.evaluation ? 2 : 3;
  const std::size_t found = find_picture_folder(options, std::span(pictures).first(accepted));
  return {options.path / pictures[found], options.path / labels[found]};
}

// Names below the folder, sorted; links to folders are not followed.
std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (!at->is_directory(ignored)) names.push_back(at->path().lexically_relative(folder).native());
  }
  if (error && fs::exists(folder)) {
    throw Error(ExitCode::kHost, "data folder " + base::printable(folder.native(), 400) +
                                     ": it cannot be read (" + error.message() + ")");
  }
  std::ranges::sort(names);
  return names;
}

std::string label_name(const std::string& picture) {
  return fs::path(picture).replace_extension(".txt").native();
}

std::vector<PictureDraft> list_pictures(const fs::path& folder, DetectionSet& set) {
  std::vector<PictureDraft> drafts;
  for (std::string& name : files_below(folder)) {
    if (is_jpeg_name(name)) {
      drafts.push_back({std::move(name), 0, 0, {}});
    } else if (is_other_picture_name(name)) {
      set.skipped.add({std::move(name), "other_format", "only JPEG is read"});
    }
  }
  return drafts;
}

void note_labels_without_picture(const fs::path& folder, const std::vector<PictureDraft>& drafts,
                                 DetectionSet& set) {
  std::set<std::string> wanted;
  for (const PictureDraft& draft : drafts) wanted.insert(label_name(draft.name));
  for (const std::string& name : files_below(folder)) {
    if (name.ends_with(".txt") && name != "classes.txt" && !wanted.contains(name)) {
      set.skipped.add({name, "missing_image", "a label file without a picture"});
    }
  }
}

void read_labels(const fs::path& folder, std::int64_t classes, int threads,
                 std::vector<PictureDraft>& drafts, DetectionSet& set) {
  const std::int64_t count = static_cast<std::int64_t>(drafts.size());
  const int used = thread_count(threads, count);
  std::vector<FileBytes> buffers(static_cast<std::size_t>(used));
  std::vector<std::vector<SkippedItem>> skipped(drafts.size());
  parallel_for(count, used, [&](int thread, std::int64_t i) {
    const std::size_t at = static_cast<std::size_t>(i);
    const std::string name = label_name(drafts[at].name);
    std::error_code error;
    if (!fs::exists(folder / name, error)) return;
    FileBytes& file = buffers[static_cast<std::size_t>(thread)];
    std::string problem;
    if (!file.read(folder / name, problem)) {
      skipped[at].push_back({name, "unreadable", problem});
      return;
    }
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                                file.bytes().size());
    YoloLabels labels = parse_yolo_labels(text, name, classes);
    drafts[at].boxes = std::move(labels.boxes);
    skipped[at] = std::move(labels.skipped);
  });
  for (std::vector<SkippedItem>& items : skipped) {
    for (SkippedItem& item : items) set.skipped.add(std::move(item));
  }
}

std::int64_t labels_used(const std::vector<PictureDraft>& drafts) {
  std::int64_t count = 1;
  for (const PictureDraft& draft : drafts) {
    for (const LabelledBox& box : draft.boxes) count = std::max<std::int64_t>(count, box.label + 1);
  }
  return count;
}

}  // namespace

DetectionSet read_yolo_set(const DatasetOptions& options) {
  DetectionSet set;
  const Folders folders = folders_of(options);
  set.folder = folders.pictures;
  set.labels = folders.labels;
  set.classes = classes_of(options.path);
  if (set.classes.empty()) set.classes = numbered_classes(options.classes);
  std::vector<PictureDraft> drafts = list_pictures(folders.pictures, set);
  note_labels_without_picture(folders.labels, drafts, set);
  read_labels(folders.labels, static_cast<std::int64_t>(set.classes.size()), options.threads,
              drafts, set);
  if (set.classes.empty()) set.classes = numbered_classes(labels_used(drafts));
  add_pictures(set, std::move(drafts), options.threads);
  check_usable(set, options);
  return set;
}

}  // namespace falcon::data
