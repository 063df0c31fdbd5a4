#include "data/options.h"

#include "falconbench/catalog.h"

namespace falcon::data {

DatasetOptions dataset_options(const RunSpec& resolved, const std::string& folder,
                               std::int64_t classes) {
  DatasetOptions options;
  options.format = resolved.data.format;
  options.path = folder;
  options.subfolder = resolved.data.train.value_or("");
  options.annotations = resolved.data.annotations.value_or("");
  options.augment = resolved.data.augment.value_or(options.augment);
  const ModelFacts* model = catalog::find_model(resolved.model);
  if (model != nullptr) options.task = model->task;
  options.image_size = resolved.image_size.value_or(options.image_size);
  options.sequence_length = resolved.sequence_length.value_or(options.sequence_length);
  options.vocab = resolved.data.vocab.value_or(options.vocab);
  options.doc_stride = resolved.data.doc_stride.value_or(options.doc_stride);
  options.classes = classes;
  options.count = resolved.data.samples;
  options.io = resolved.data.loader.io;
  return options;
}

DatasetOptions validation_options(const RunSpec& resolved, const std::string& folder,
                                  std::int64_t classes) {
  constexpr std::int64_t kMadeSamples = 512;
  DatasetOptions options = dataset_options(resolved, folder, classes);
  options.class_subfolder = options.subfolder;
  options.class_annotations = options.annotations;
  options.subfolder = resolved.data.val.value_or("");
  options.annotations.clear();  // the default for this subfolder
  options.count = kMadeSamples;
  options.evaluation = true;
  return options;
}

std::uint64_t validation_seed(const RunSpec& resolved) {
  constexpr std::uint64_t kStream = 0x76616C;  // "val"
  return static_cast<std::uint64_t>(resolved.seed) ^ kStream << 40;
}

}  // namespace falcon::data
