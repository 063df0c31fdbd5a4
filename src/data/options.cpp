#include "data/options.h"

#include "falconbench/catalog.h"

namespace falcon::data {

DatasetOptions dataset_options(const RunSpec& resolved, const std::string& folder,
                               std::int64_t classes) {
  DatasetOptions options;
  options.format = resolved.data.format;
  options.path = folder;
  options.subfolder = resolved.data.train;
  options.image_size = *resolved.image_size;
  options.classes = classes;
  if (const ModelFacts* model = catalog::find_model(resolved.model)) {
    options.task = model->task;
    options.count = model->dataset_samples;
  }
  options.count = resolved.data.samples.value_or(options.count);
  return options;
}

}  // namespace falcon::data
