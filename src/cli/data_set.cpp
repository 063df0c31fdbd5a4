#include "cli/data_set.h"

#include <filesystem>

#include "data/options.h"
#include "falconbench/catalog.h"

namespace falcon::cli {

data::MadeSet make_data(const RunSpec& resolved, const std::string& folder,
                        const data::ProgressFunction& progress) {
  const data::DatasetRow* row = data::find_dataset_row(resolved.data.format);
  return row->make_files(folder, *resolved.data.make, static_cast<std::uint64_t>(resolved.seed),
                         progress);
}

DataFacts survey(const RunSpec& resolved, const std::string& folder) {
  DataFacts facts;
  facts.folder = folder;
  if (resolved.data.make && !std::filesystem::exists(folder)) {
    facts.samples = resolved.data.make->train;
    facts.classes = resolved.data.make->classes.value_or(0);
    return facts;
  }
  const std::int64_t classes =
      resolved.model_options.classes.value_or(catalog::find_model(resolved.model)->classes);
  const std::unique_ptr<Dataset> dataset =
      data::make_dataset(data::dataset_options(resolved, folder, classes));
  facts.samples = dataset->size();
  facts.classes = std::stoll(dataset->facts().at("classes"));
  facts.skipped = static_cast<std::int64_t>(dataset->skipped_at_scan().size());
  return facts;
}

}  // namespace falcon::cli
