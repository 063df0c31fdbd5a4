#include "cli/probe.h"

#include "base/codec.h"
#include "base/json.h"
#include "cli/helper_process.h"
#include "falconbench/errors.h"

namespace falcon::cli {

ProbeFacts probe(const Patience* patience) {
  Helper helper;
  helper.what = "the probe of CUDA and the libraries";
  helper.words = {"--probe"};
  helper.environment = {"CUDA_DEVICE_ORDER=PCI_BUS_ID"};
  // a cold start reads 2 GB of libraries from disk
  const std::string answer = answer_of(helper, patience);
  return base::from_value<ProbeFacts>(base::parse_json(answer, "probe"));
}

void check_libraries(const ProbeFacts& facts) {
  for (const auto& [name, library] : facts.libraries) {
    if (library.loaded.has_value() && *library.loaded != library.built) {
      throw Error(ExitCode::kHost,
                  name + ": built for " + library.built + ", but " + *library.loaded +
                      " is loaded from " + library.path +
                      "; set FALCONBENCH_LIBTORCH to a folder with the right one, or build " +
                      "against this one");
    }
  }
}

}  // namespace falcon::cli
