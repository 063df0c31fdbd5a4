#include "cli/data_set.h"

#include <filesystem>

#include "data/options.h"
#include "falconbench/catalog.h"

namespace falcon::cli {
namespace {

constexpr std::size_t kMaxItems = 100;  // that the report names

}  // namespace

data::MadeSet make_data(const RunSpec& resolved, const std::string& folder,
                        const data::ProgressFunction& progress) {
  const data::DatasetRow* row = data::find_dataset_row(resolved.data.format);
  return row->make_files(folder, *resolved.data.make, static_cast<std::uint64_t>(resolved.seed),
                         progress);
}

Surveyed survey(const RunSpec& resolved, const std::string& folder) {
  Surveyed surveyed;
  DataFacts& facts = surveyed.facts;
  facts.folder = folder;
  if (resolved.data.make && !std::filesystem::exists(folder)) {
    facts.samples = resolved.data.make->train;
    facts.classes = resolved.data.make->classes.value_or(0);
    facts.validation = resolved.evaluate ? resolved.data.make->val : 0;
    return surveyed;
  }
  const std::int64_t classes =
      resolved.model_options.classes.value_or(catalog::find_model(resolved.model)->classes);
  surveyed.dataset = data::make_dataset(data::dataset_options(resolved, folder, classes));
  const Dataset* dataset = surveyed.dataset.get();
  facts.samples = dataset->size();
  const std::map<std::string, std::string> described = dataset->facts();
  const auto known = described.find("classes");
  if (known != described.end()) facts.classes = std::stoll(known->second);
  facts.skipped = dataset->skip_counts_at_scan();
  facts.skipped_items = dataset->skipped_at_scan();
  if (facts.skipped_items.size() > kMaxItems) facts.skipped_items.resize(kMaxItems);
  if (resolved.evaluate) {
    facts.validation =
        data::make_dataset(data::validation_options(resolved, folder, classes))->size();
  }
  return surveyed;
}

}  // namespace falcon::cli
