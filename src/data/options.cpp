#include "data/options.h"

namespace falcon::data {

DatasetOptions dataset_options(const RunSpec& resolved, const std::string& folder,
                               std::int64_t classes) {
  DatasetOptions options;
  options.format = resolved.data.format;
  options.path = folder;
  options.subfolder = resolved.data.train;
  options.annotations = resolved.data.annotations.value_or("");
  options.augment = resolved.data.augment.value_or(options.augment);
  options.image_size = *resolved.image_size;
  options.classes = classes;
  options.count = resolved.data.samples.value_or(options.count);
  return options;
}

}  // namespace falcon::data
