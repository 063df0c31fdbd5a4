#include <cstdio>

#include "base/revision.h"
#include "cli/commands.h"
#include "cli/probe.h"
#include "platform/detect.h"

namespace falcon::cli {

ExitCode version_command() {
  std::printf("falconbench %s (%s)\n", base::version(), base::revision());
  const Host host = platform::detect({});
  std::printf("GPU driver  %s\n", host.driver.has_value()
                                      ? host.driver.value->c_str()
                                      : ("none (" + host.driver.reason + ")").c_str());
  const ProbeFacts facts = probe();
  for (const auto& [name, library] : facts.libraries) {
    const std::string loaded =
        library.loaded.has_value() ? *library.loaded : "not loaded (" + library.loaded.reason + ")";
    std::printf("%-11s built for %s, loaded %s%s%s\n", name.c_str(), library.built.c_str(),
                loaded.c_str(), library.path.empty() ? "" : " from ", library.path.c_str());
  }
  check_libraries(facts);
  return ExitCode::kOk;
}

}  // namespace falcon::cli
