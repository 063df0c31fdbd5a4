// Reads all labels of a `coco` or `yolo` set and decodes every picture, and says what is wrong.
// Writes nothing.
#pragma once
#include <filesystem>

#include "data/made_set.h"

namespace falcon::data {

/// Every annotations/instances_<part>.json of the folder. Throws falcon::Error (kHost) when there
/// is none or a part has no usable picture, and InputError when a file is no COCO annotation file.
SetCheck check_coco_set(const std::filesystem::path& path);
/// Every images/<part> and <part>/images of the folder, or images itself. Throws as
/// read_yolo_set().
SetCheck check_yolo_set(const std::filesystem::path& path);

}  // namespace falcon::data
