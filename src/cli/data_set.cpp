#include "cli/data_set.h"

#include <filesystem>

#include "data/options.h"
#include "falconbench/catalog.h"

namespace falcon::cli {
namespace {

constexpr std::size_t kMaxItems = 100;  // that the report names

}  // namespace

data::MadeImages make_data(const std::string& folder, const MakeSpec& make, std::uint64_t seed,
                           const data::ProgressFunction& progress) {
  data::MakeImagesOptions options;
  options.train = make.train;
  options.val = make.val;
  options.classes = static_cast<int>(make.classes);
  options.side_mean = static_cast<int>(make.side);
  options.side_min = options.side_mean * 4 / 5;
  options.side_max = options.side_mean * 6 / 5;
  options.quality = static_cast<int>(make.quality);
  options.seed = seed;
  return data::make_images(folder, options, 0, progress);
}

DataFacts survey(const RunSpec& resolved, const std::string& folder) {
  DataFacts facts;
  facts.folder = folder;
  if (resolved.data.make && !std::filesystem::exists(folder)) {
    facts.samples = resolved.data.make->train;
    facts.classes = resolved.data.make->classes;
    return facts;
  }
  const std::int64_t classes =
      resolved.model_options.classes.value_or(catalog::find_model(resolved.model)->classes);
  const std::unique_ptr<Dataset> dataset =
      data::make_dataset(data::dataset_options(resolved, folder, classes));
  facts.samples = dataset->size();
  facts.classes = std::stoll(dataset->facts().at("classes"));
  facts.skipped = dataset->skip_counts_at_scan();
  facts.skipped_items = dataset->skipped_at_scan();
  if (facts.skipped_items.size() > kMaxItems) facts.skipped_items.resize(kMaxItems);
  return facts;
}

}  // namespace falcon::cli
