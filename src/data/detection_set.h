// Pictures and their boxes in the one form that every label format is read into.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/catalog.h"
#include "data/skip_log.h"

namespace falcon::data {

/// Centre and size in parts of the picture's width and height, inside the picture.
struct LabelledBox {
  float x = 0;
  float y = 0;
  float width = 0;
  float height = 0;
  std::int32_t label = 0;
  bool is_crowd = false;  // a region of many objects: no target, and no miss in an evaluation
  friend bool operator==(const LabelledBox&, const LabelledBox&) = default;
};

/// Cuts corners given in parts of a picture at its edges. False when nothing is left.
bool cut_to_picture(double left, double top, double right, double bottom, LabelledBox& box);

struct DetectionPicture {
  std::string name;  // below the picture folder
  std::uint32_t first_box = 0;
  std::uint32_t box_count = 0;
};

struct DetectionSet {
  std::filesystem::path folder;      // of the pictures
  std::filesystem::path labels;      // the annotation file or the label folder
  std::vector<std::string> classes;  // names; their places are the labels
  std::vector<DetectionPicture> pictures;
  std::vector<LabelledBox> boxes;  // by picture
  std::int64_t bytes = 0;          // of the picture files
  SkipLog skipped;

  std::span<const LabelledBox> boxes_of(std::int64_t picture) const;
  std::filesystem::path path(std::int64_t picture) const;
};

/// A picture as the labels name it, before its file is looked at.
struct PictureDraft {
  std::string name;
  int width = 0;  // as the labels say; 0: they do not
  int height = 0;
  std::vector<LabelledBox> boxes;
};

/// Looks at the head of every file (threads 0: one per core) and moves the usable pictures with
/// their boxes to set.pictures and set.boxes, in the order given. Reasons for leaving one out:
///   missing_image                              no such file
///   unreadable, empty, not_jpeg, too_large     by its first bytes
///   size_mismatch                              the labels were made for a picture of another size
void add_pictures(DetectionSet& set, std::vector<PictureDraft> drafts, int threads);

/// Throws falcon::Error: kHost when there is no usable picture, kUsage when there are more classes
/// than options.classes (0: any number).
void check_usable(const DetectionSet& set, const DatasetOptions& options);

/// Which of the candidates, below options.path, is the picture folder: the first that is there.
/// Throws falcon::Error (kHost) naming them when none is.
std::size_t find_picture_folder(const DatasetOptions& options,
                                std::span<const std::filesystem::path> candidates);

}  // namespace falcon::data
