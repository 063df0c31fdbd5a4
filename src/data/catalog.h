// Which data sets there are: one row each, in catalog.cpp. Adding one is a new file and a row.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "falconbench/dataset.h"

namespace falcon::data {

/// What a data set is made from; each takes what it needs.
struct DatasetOptions {
  std::string format = "synthetic";  // a name of the catalog
  std::filesystem::path path;        // folder; synthetic has none
  std::string subfolder;             // below path, e.g. train or val; "" for path itself
  std::string annotations;  // coco: file below path; "": annotations/instances_<subfolder>.json
  std::int64_t image_size = 224;
  std::int64_t classes = 1000;   // of the model; labels are below it
  std::int64_t count = 1281167;  // synthetic: samples in an epoch (default: as many as ImageNet)
  bool evaluation = false;       // fixed evaluation transform instead of the random training one
  int threads = 0;               // for the scan; 0: one per core
};

struct DatasetRow {
  std::string_view name;
  std::string_view summary;
  bool needs_path;
  std::unique_ptr<Dataset> (*make)(const DatasetOptions&);
};

std::span<const DatasetRow> dataset_rows();
/// nullptr when there is no such row.
const DatasetRow* find_dataset_row(std::string_view name);
/// Throws falcon::Error: kUsage for an unknown format (with the nearest), and what the data set
/// itself throws.
std::unique_ptr<Dataset> make_dataset(const DatasetOptions& options);

}  // namespace falcon::data
