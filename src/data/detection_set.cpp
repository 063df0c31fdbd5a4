#include "data/detection_set.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "data/parallel_for.h"
#include "data/picture_head.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

std::string shown(const fs::path& path) {
  return base::printable(path.native(), 400);
}

std::string size_text(int width, int height) {
  return std::to_string(width) + " x " + std::to_string(height);
}

std::optional<DecodeProblem> file_problem(const fs::path& path, const PictureDraft& draft,
                                          FileBytes& buffer, std::size_t& file_bytes) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return DecodeProblem{"missing_image", "no file of this name; its " +
                                              std::to_string(draft.boxes.size()) +
                                              " boxes are left out with it"};
  }
  PictureHead head = read_picture_head(path, buffer);
  file_bytes = head.file_bytes;
  if (head.problem) return std::move(head.problem);
  const bool both_known = draft.width > 0 && head.width > 0;
  if (both_known && (draft.width != head.width || draft.height != head.height)) {
    return DecodeProblem{"size_mismatch", "it has " + size_text(head.width, head.height) +
                                              " pixels, its labels are for " +
                                              size_text(draft.width, draft.height)};
  }
  return std::nullopt;
}

}  // namespace

bool cut_to_picture(double left, double top, double right, double bottom, LabelledBox& box) {
  left = std::clamp(left, 0.0, 1.0);
  top = std::clamp(top, 0.0, 1.0);
  right = std::clamp(right, 0.0, 1.0);
  bottom = std::clamp(bottom, 0.0, 1.0);
  box.x = static_cast<float>((left + right) / 2);
  box.y = static_cast<float>((top + bottom) / 2);
  box.width = static_cast<float>(right - left);
  box.height = static_cast<float>(bottom - top);
  return box.width > 0 && box.height > 0;
}

std::span<const LabelledBox> DetectionSet::boxes_of(std::int64_t picture) const {
  const DetectionPicture& p = pictures[static_cast<std::size_t>(picture)];
  return std::span(boxes).subspan(p.first_box, p.box_count);
}

fs::path DetectionSet::path(std::int64_t picture) const {
  return folder / pictures[static_cast<std::size_t>(picture)].name;
}

void add_pictures(DetectionSet& set, std::vector<PictureDraft> drafts, int threads) {
  const std::int64_t count = static_cast<std::int64_t>(drafts.size());
  const int used = thread_count(threads, count);
  std::vector<FileBytes> buffers(static_cast<std::size_t>(used));
  std::vector<std::optional<DecodeProblem>> problems(drafts.size());
  std::vector<std::size_t> file_bytes(drafts.size());
  parallel_for(count, used, [&](int thread, std::int64_t i) {
    const std::size_t at = static_cast<std::size_t>(i);
    problems[at] = file_problem(set.folder / drafts[at].name, drafts[at],
                                buffers[static_cast<std::size_t>(thread)], file_bytes[at]);
  });
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    PictureDraft& draft = drafts[i];
    if (problems[i]) {
      set.skipped.add({std::move(draft.name), problems[i]->reason, problems[i]->detail});
      continue;
    }
    set.pictures.push_back({std::move(draft.name), static_cast<std::uint32_t>(set.boxes.size()),
                            static_cast<std::uint32_t>(draft.boxes.size())});
    set.boxes.insert(set.boxes.end(), draft.boxes.begin(), draft.boxes.end());
    set.bytes += static_cast<std::int64_t>(file_bytes[i]);
  }
}

void check_usable(const DetectionSet& set, const DatasetOptions& options) {
  const std::string folder = "data folder " + shown(set.folder);
  if (set.pictures.empty()) {
    const std::string left_out = set.skipped.summary();
    throw Error(ExitCode::kHost, folder + ": no usable JPEG file; labels from " +
                                     shown(set.labels) +
                                     (left_out.empty() ? "" : "; left out: " + left_out));
  }
  const std::int64_t found = static_cast<std::int64_t>(set.classes.size());
  if (options.classes > 0 && found > options.classes) {
    throw Error(ExitCode::kUsage, shown(set.labels) + ": it has " + std::to_string(found) +
                                      " classes, but the model has " +
                                      std::to_string(options.classes));
  }
}

std::size_t find_picture_folder(const DatasetOptions& options,
                                std::span<const fs::path> candidates) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::error_code error;
    if (fs::is_directory(options.path / candidates[i], error)) return i;
    names.push_back(base::printable(candidates[i].native(), 200));
  }
  throw Error(ExitCode::kHost, "data folder " + shown(options.path) +
                                   ": no folder with pictures; accepted: " + base::join_or(names));
}

}  // namespace falcon::data
