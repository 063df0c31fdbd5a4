// falconbench doctor: what this host, or the machine that files describe, is.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/doctor_page.h"
#include "cli/help.h"
#include "cli/system_draft.h"
#include "platform/detect.h"
#include "platform/dump/dump.h"
#include "platform/machine/answers.h"
#include "platform/machine/host_places.h"
#include "platform/machine/machine.h"

namespace falcon::cli {
namespace {

struct DoctorArguments {
  std::string from;  // "": this host
  std::string write_system;
  bool json = false;
};

DoctorArguments parse(const Words& words) {
  DoctorArguments arguments;
  // --host says the same as --from: what a run is planned for and what is looked at are one
  const std::array<std::pair<std::string, std::string*>, 3> values = {
      {{"--from", &arguments.from},
       {"--host", &arguments.from},
       {"--write-system", &arguments.write_system}}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = std::find_if(values.begin(), values.end(), [&word](const auto& one) {
      return word == one.first || word.starts_with(one.first + "=");
    });
    if (word == "--json") {
      arguments.json = true;
    } else if (value == values.end()) {
      throw Error(ExitCode::kUsage, "doctor: unknown word \"" + base::printable(word) +
                                        "\"; accepted: --from FILE|DIR, --write-system FILE and "
                                        "--json");
    } else {
      if (!value->second->empty()) throw Error(ExitCode::kUsage, "doctor: twice " + value->first);
      if (word != value->first) *value->second = word.substr(value->first.size() + 1);
      if (word == value->first && i + 1 < words.size()) *value->second = words[++i];
      if (value->second->empty()) {
        throw Error(ExitCode::kUsage, "doctor: " + value->first + " needs a file" +
                                          (value->second == &arguments.from ? " or a folder" : ""));
      }
    }
  }
  return arguments;
}

// What there is to know, and the same as a host to plan for.
struct Patient {
  platform::Dump dump;
  platform::Machine machine;
  Host host;
};

Patient examine(const std::string& from) {
  Patient patient;
  if (!from.empty()) {
    patient.dump = platform::read_dump(from);
    patient.machine = platform::make_machine(patient.dump);
    patient.host = platform::host_of(patient.machine, patient.dump, from);
    return patient;
  }
  platform::DetectOptions options;
  options.nvml = std::make_shared<const platform::Nvml>();
  patient.host = platform::detect(options);
  patient.dump =
      platform::read_this_host(platform::Root(options.root), patient.host, options.nvml.get());
  patient.machine = platform::make_machine(patient.dump);
  return patient;
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
  const Patient patient = examine(arguments.from);
  if (!arguments.write_system.empty()) {
    write_new_file(arguments.write_system, system_draft(patient.machine, patient.host));
    std::fprintf(stderr, "falconbench: wrote %s; confirm what it proposes\n",
                 arguments.write_system.c_str());
  }
  const base::Value answers = platform::answers_of(patient.machine, patient.dump);
  const std::string text = arguments.json ? base::to_json(answers, 2) + "\n" : doctor_page(answers);
  std::fputs(text.c_str(), stdout);
  return ExitCode::kOk;
}

}  // namespace falcon::cli
