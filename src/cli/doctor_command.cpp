// falconbench doctor: what this host, or the machine that files describe, is.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/doctor_page.h"
#include "cli/help.h"
#include "platform/detect.h"
#include "platform/dump/dump.h"
#include "platform/machine/answers.h"
#include "platform/machine/machine.h"

namespace falcon::cli {
namespace {

struct DoctorArguments {
  std::optional<std::string> from;
  bool json = false;
};

DoctorArguments parse(const Words& words) {
  DoctorArguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--json") {
      arguments.json = true;
    } else if (word == "--from" && i + 1 < words.size()) {
      arguments.from = words[++i];
    } else if (word.starts_with("--from=")) {
      arguments.from = word.substr(7);
    } else {
      throw Error(ExitCode::kUsage, word == "--from"
                                        ? "doctor: --from needs a file or a folder"
                                        : "doctor: unknown word \"" + base::printable(word) +
                                              "\"; accepted: --from FILE|DIR and --json");
    }
  }
  return arguments;
}

platform::Dump read(const DoctorArguments& arguments) {
  if (arguments.from) return platform::read_dump(*arguments.from);
  platform::DetectOptions options;
  options.nvml = std::make_shared<const platform::Nvml>();
  return platform::read_this_host(platform::Root(options.root), platform::detect(options),
                                  options.nvml.get());
}

}  // namespace

ExitCode doctor_command(const Words& words) {
  const auto asks_for_help = [](const std::string& word) {
    return word == "--help" || word == "-h";
  };
  if (std::any_of(words.begin(), words.end(), asks_for_help)) {
    std::fputs(kDoctorHelp, stdout);
    return ExitCode::kOk;
  }
  const DoctorArguments arguments = parse(words);
  const platform::Dump dump = read(arguments);
  const base::Value answers = platform::answers_of(platform::make_machine(dump), dump);
  const std::string text = arguments.json ? base::to_json(answers, 2) + "\n" : doctor_page(answers);
  std::fputs(text.c_str(), stdout);
  return ExitCode::kOk;
}

}  // namespace falcon::cli
