#include "cli/run_arguments.h"

#include <algorithm>
#include <type_traits>

// cxxopts would split `--set 'a=[1,2]'` at the comma.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>

#include "base/codec.h"
#include "base/text.h"
#include "falconbench/run_spec.h"

namespace falcon::cli {
namespace {

// The plain top-level keys of a spec: those whose value is one word or number.
class FlagKeys {
 public:
  template <class T>
  void field(const char* name, T&, const char* help, const Rule& = {}) {
    if constexpr (base::IsOptional<T>::value) {
      add<typename T::value_type>(name, help);
    } else {
      add<T>(name, help);
    }
  }
  struct Flag {
    std::string key, flag, help;
  };
  const std::vector<Flag>& flags() const { return flags_; }

 private:
  template <class T>
  void add(const char* name, const char* help) {
    constexpr bool kPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::string> ||
                            std::is_same_v<T, NameOrList> || std::is_same_v<T, ParallelismSpec>;
    if constexpr (kPlain) {
      std::string flag = name;
      std::replace(flag.begin(), flag.end(), '_', '-');
      flags_.push_back({name, flag, help});
    }
  }
  std::vector<Flag> flags_;
};

std::vector<FlagKeys::Flag> flag_keys() {
  RunSpec spec;
  FlagKeys keys;
  visit_fields(spec, keys);
  return keys.flags();
}

[[noreturn]] void unknown_flag(const std::string& word, const std::vector<FlagKeys::Flag>& flags) {
  std::vector<std::string> known = {"--config", "--set",   "--host",    "--dry-run",
                                    "--json",   "--quiet", "--verbose", "--help"};
  for (const FlagKeys::Flag& flag : flags) known.push_back("--" + flag.flag);
  const std::string near = base::nearest(word, known);
  throw Error(ExitCode::kUsage,
              "unknown flag " + base::printable(word) +
                  (near.empty() ? "; see --help" : ", did you mean " + near + "?"));
}

void declare(cxxopts::Options& options, const std::vector<FlagKeys::Flag>& flags) {
  auto add = options.add_options();
  add("config", "spec file", cxxopts::value<std::string>());
  add("set", "key=VALUE", cxxopts::value<std::vector<std::string>>());
  add("host", "plan for another machine", cxxopts::value<std::string>());
  add("dry-run", "plan only");
  add("json", "print JSON");
  add("quiet", "errors only");
  add("verbose", "more");
  add("help", "help");
  for (const FlagKeys::Flag& flag : flags) add(flag.flag, flag.help, cxxopts::value<std::string>());
  options.allow_unrecognised_options();
}

RunArguments collect(const cxxopts::ParseResult& parsed, const std::vector<FlagKeys::Flag>& flags) {
  RunArguments arguments;
  for (const cxxopts::KeyValue& pair : parsed.arguments()) {
    if (pair.key() == "config") {
      if (!arguments.config.empty()) throw Error(ExitCode::kUsage, "--config is given twice");
      arguments.config = pair.value();
    } else if (pair.key() == "host") {
      if (!arguments.host.empty()) throw Error(ExitCode::kUsage, "--host is given twice");
      arguments.host = pair.value();
    } else if (pair.key() == "set") {
      arguments.settings.push_back(pair.value());
    } else {
      for (const FlagKeys::Flag& flag : flags) {
        if (flag.flag == pair.key()) arguments.settings.push_back(flag.key + "=" + pair.value());
      }
    }
  }
  arguments.dry_run = parsed.count("dry-run") > 0;
  arguments.json = parsed.count("json") > 0;
  arguments.quiet = parsed.count("quiet") > 0;
  arguments.verbose = parsed.count("verbose") > 0;
  arguments.help = parsed.count("help") > 0;
  if (!arguments.host.empty() && !arguments.dry_run) {
    throw Error(ExitCode::kUsage, "--host plans for another machine: it goes with --dry-run");
  }
  return arguments;
}

}  // namespace

RunArguments parse_run_arguments(const Words& words) {
  const std::vector<FlagKeys::Flag> flags = flag_keys();
  cxxopts::Options options("falconbench");
  declare(options, flags);
  std::vector<const char*> argv = {"falconbench"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  try {
    const cxxopts::ParseResult parsed = options.parse(static_cast<int>(argv.size()), argv.data());
    for (const std::string& word : parsed.unmatched()) {
      if (word[0] == '-') unknown_flag(word, flags);
      throw Error(ExitCode::kUsage, "unexpected word \"" + base::printable(word) +
                                        "\"; a spec file is given with " + "--config FILE");
    }
    return collect(parsed, flags);
  } catch (const cxxopts::exceptions::exception& error) {
    throw Error(ExitCode::kUsage, std::string(error.what()) + "; see --help");
  }
}

}  // namespace falcon::cli
