// Which data sets there are: one row each, in catalog.cpp. Adding one is a new file and a row.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/made_set.h"
#include "falconbench/dataset.h"
#include "falconbench/spec_data.h"

namespace falcon::data {

/// What a data set is made from; each takes what it needs.
struct DatasetOptions {
  std::string format = "synthetic";  // a name of the catalog
  std::filesystem::path path;        // folder; synthetic has none
  std::string subfolder;    // below path, e.g. train or val; "" for path itself; squad: a file
  std::string annotations;  // coco: file below path; "": annotations/instances_<subfolder>.json
  std::string augment = "mosaic";   // coco and yolo: how training samples are made
  bool draw_on_device = false;      // coco and yolo: give out what a training sample is drawn of
  std::string vocab = "vocab.txt";  // squad: below path, or absolute
  std::int64_t doc_stride = 128;    // squad: context tokens that two neighbouring windows share
  std::string task = "classification";  // ModelFacts::task
  std::int64_t image_size = 224;        // of pictures
  std::int64_t sequence_length = 384;   // of token sequences
  std::int64_t classes = 1000;          // of the model; labels are below it
  std::optional<std::int64_t> count;    // synthetic: samples in an epoch; the original's number
  // Below path: where the classes are named that the labels mean; "" for subfolder's own.
  std::string class_subfolder;    // imagefolder
  std::string class_annotations;  // coco
  bool evaluation = false;        // fixed evaluation transform instead of the random training one
  int threads = 0;                // for the scan; 0: one per core
  std::string io = kBufferedIo;   // how whole files are read
};

struct DatasetRow {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Dataset> (*make)(const DatasetOptions&);
  /// Files of this format, both nullptr when it reads none. Fills a folder (data/made_set.h) by
  /// data.make with every field set that the format takes (spec/make_options.h).
  MadeSet (*make_files)(const std::filesystem::path& folder, const MakeSpec& make,
                        std::uint64_t seed, const ProgressFunction& progress) = nullptr;
  /// Looks at every record. Throws falcon::Error (kHost) when there is nothing to check.
  SetCheck (*check_files)(const std::filesystem::path& folder) = nullptr;
};

std::span<const DatasetRow> dataset_rows();
/// nullptr when there is no such row.
const DatasetRow* find_dataset_row(std::string_view name);
/// Throws falcon::Error: kUsage for an unknown format (with the nearest), and what the data set
/// itself throws.
std::unique_ptr<Dataset> make_dataset(const DatasetOptions& options);

}  // namespace falcon::data
