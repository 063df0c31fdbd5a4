// Reads a COCO annotation file (instances_*.json) as a stream: nothing of it is kept but pictures,
// boxes and categories, so segmentations cost no memory.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::data {

struct CocoImage {
  std::int64_t id = 0;
  std::string file_name;
  int width = 0;
  int height = 0;
};
struct CocoAnnotation {
  std::int64_t id = 0;
  std::int64_t image_id = 0;
  std::int64_t category_id = 0;
  std::array<double, 4> box{};  // left, top, width, height in pixels
  bool is_crowd = false;
};
struct CocoCategory {
  std::int64_t id = 0;
  std::string name;
};

struct CocoAnnotations {
  std::vector<CocoImage> images;  // in the order of the file, as all
  std::vector<CocoAnnotation> annotations;
  std::vector<CocoCategory> categories;
  std::vector<SkippedItem> bad_records;  // reason bad_record: without a field that is needed
};

/// The three lists may come in any order. Throws falcon::Error (kHost) when the file cannot be read
/// and InputError, with line and column, when it is no JSON, ends early or has not the three lists.
CocoAnnotations read_coco_annotations(const std::filesystem::path& file);

}  // namespace falcon::data
