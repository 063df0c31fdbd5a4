// Makes data sets of the forms `coco` and `yolo`: pictures of data/shapes_picture.h in images/train
// and images/val; their boxes in annotations/instances_train.json and instances_val.json, or in
// labels/train, labels/val and data.yaml.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "data/made_set.h"
#include "falconbench/spec_data.h"

namespace falcon::data {

/// Both fill `path` as make_set() of data/made_set.h does and throw as it does. The same arguments
/// give the same bytes, with any number of threads. REQUIRES: every field of make that the format
/// takes is set.
MadeSet make_coco_set(const std::filesystem::path& path, const MakeSpec& make, std::uint64_t seed,
                      const ProgressFunction& progress);
MadeSet make_yolo_set(const std::filesystem::path& path, const MakeSpec& make, std::uint64_t seed,
                      const ProgressFunction& progress);

/// Files that belong to such a set, by name.
bool is_coco_file(std::string_view name);
bool is_yolo_file(std::string_view name);

}  // namespace falcon::data
