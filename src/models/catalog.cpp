#include "models/catalog.h"

#include <array>

#include <falconbench/errors.h>
#include <falconbench/model.h>

#include "base/text.h"
#include "models/bert.h"
#include "models/mobilenet.h"
#include "models/resnet.h"
#include "models/yolo.h"

namespace falcon {

namespace models {

namespace {

struct Row {
  const char* name;
  std::unique_ptr<Model> (*make)(const ModelOptions& options);
};

constexpr std::array kCatalog{
    Row{"resnet50", make_resnet50},   Row{"mobilenet_v2", make_mobilenet_v2},
    Row{"bert_base", make_bert_base}, Row{"bert_large", make_bert_large},
    Row{"yolov5n", make_yolov5n},     Row{"yolov5s", make_yolov5s},
    Row{"yolov5m", make_yolov5m},     Row{"yolov5l", make_yolov5l},
    Row{"yolov5x", make_yolov5x},
};

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Row& row : kCatalog) {
    names.emplace_back(row.name);
  }
  return names;
}

}  // namespace models

std::unique_ptr<Model> make_model(std::string_view name, const ModelOptions& options) {
  if (options.classes < 1) {
    throw Error(ExitCode::kUsage, "model_options.classes is " + std::to_string(options.classes) +
                                      "; at least 1 is accepted");
  }
  if (!(options.dropout < 1)) {
    throw Error(ExitCode::kUsage, "model_options.dropout is " + base::number_text(options.dropout) +
                                      "; a probability below 1 is accepted");
  }
  for (const models::Row& row : models::kCatalog) {
    if (name == row.name) {
      return row.make(options);
    }
  }
  throw Error(ExitCode::kUsage, "model " + base::printable(name) + " is not known; accepted: " +
                                    base::join_or(models::model_names()));
}

}  // namespace falcon
