#include "data/synthetic.h"

#include "base/text.h"
#include "data/synthetic_boxes.h"
#include "data/synthetic_images.h"
#include "falconbench/errors.h"

namespace falcon::data {

std::unique_ptr<Dataset> make_synthetic(const DatasetOptions& options) {
  if (options.task == "classification") return make_synthetic_images(options);
  if (options.task == "detection") return make_synthetic_boxes(options);
  throw Error(ExitCode::kUsage, "synthetic data: no form for the task " +
                                    base::printable(options.task) +
                                    " (known: classification, detection)");
}

}  // namespace falcon::data
