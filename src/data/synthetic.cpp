#include "data/synthetic.h"

#include "base/text.h"
#include "data/synthetic_boxes.h"
#include "data/synthetic_images.h"
#include "data/synthetic_tokens.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

template <class Made>
std::unique_ptr<Dataset> make(const DatasetOptions& options) {
  return std::make_unique<Made>(options);
}

struct TaskRow {
  std::string_view task;  // as ModelFacts::task
  std::unique_ptr<Dataset> (*make)(const DatasetOptions&);
};
constexpr TaskRow kTasks[] = {
    {"classification", make<SyntheticImages>},
    {"detection", make<SyntheticBoxes>},
    {"question_answering", make<SyntheticTokens>},
};

}  // namespace

std::unique_ptr<Dataset> make_synthetic(const DatasetOptions& options) {
  std::vector<std::string> known;
  for (const TaskRow& row : kTasks) {
    if (row.task == options.task) return row.make(options);
    known.emplace_back(row.task);
  }
  throw Error(ExitCode::kUsage, "synthetic data: no samples for the task " +
                                    base::printable(options.task) +
                                    "; accepted: " + base::join_or(known));
}

}  // namespace falcon::data
