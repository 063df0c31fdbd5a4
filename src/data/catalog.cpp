#include "data/catalog.h"

#include <vector>

#include "base/text.h"
#include "data/check_detection.h"
#include "data/check_images.h"
#include "data/check_squad.h"
#include "data/detection_dataset.h"
#include "data/image_folder.h"
#include "data/make_detection.h"
#include "data/make_images.h"
#include "data/make_squad.h"
#include "data/squad.h"
#include "data/synthetic.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

constexpr DatasetRow kRows[] = {
    {"synthetic", "random samples for the model's task made from the seed; reads nothing",
     make_synthetic},
    {"imagefolder", "JPEG files in class folders: <path>/train/<class>/*.jpg", make_image_folder,
     make_image_set, check_image_set},
    {"coco", "JPEG files with boxes in a COCO annotation file", make_coco, make_coco_set,
     check_coco_set},
    {"yolo", "JPEG files with boxes in YOLO label files", make_yolo, make_yolo_set, check_yolo_set},
    {"squad", "questions on texts: <path>/train-v1.1.json and <path>/vocab.txt", make_squad_dataset,
     make_squad_set, check_squad_set},
};

}  // namespace

std::span<const DatasetRow> dataset_rows() {
  return kRows;
}

const DatasetRow* find_dataset_row(std::string_view name) {
  for (const DatasetRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::unique_ptr<Dataset> make_dataset(const DatasetOptions& options) {
  if (const DatasetRow* row = find_dataset_row(options.format)) return row->make(options);
  std::vector<std::string> names;
  for (const DatasetRow& row : kRows) names.emplace_back(row.name);
  const std::string near = base::nearest(options.format, names);
  throw Error(ExitCode::kUsage, "unknown data format " + base::printable(options.format) +
                                    (near.empty() ? "" : ", did you mean " + near + "?") +
                                    " (known: " + base::join(names, ", ") + ")");
}

}  // namespace falcon::data
