// falconbench data make|check: fills a folder with made samples, and finds what is damaged in one.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <algorithm>
#include <cstdio>

#include <cxxopts.hpp>

#include "base/codec_describe.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "data/catalog.h"
#include "falconbench/catalog.h"
#include "plan/paths.h"
#include "spec/make_options.h"
#include "spec/system_file.h"
#include "spec/yaml.h"

namespace falcon::cli {
namespace {

constexpr const char* kSource = "data make";  // of a flag's value, in messages

struct DataArguments {
  std::string action, format, path, storage, system;
  base::Value make = base::Value::object();  // the flags of `make` that are given
  std::int64_t seed = 0;
};

// A flag for each key of data.make.
void take_make_flags(const cxxopts::ParseResult& parsed, const std::vector<std::string>& names,
                     base::Value& make) {
  for (const std::string& name : names) {
    if (parsed.count(name) == 0) continue;
    base::Value value = spec::parse_yaml(parsed[name].as<std::string>(), kSource);
    value.mark = {kSource, 0, 0};
    make.set(name, std::move(value));
  }
}

DataArguments parse(const Words& words) {
  DataArguments arguments;
  const std::vector<std::string> names = base::describe(MakeSpec()).member_names();
  cxxopts::Options options("falconbench data");
  auto add = options.add_options();
  for (const std::string& name : names) add(name, "", cxxopts::value<std::string>());
  add("seed", "", cxxopts::value(arguments.seed));
  add("storage", "", cxxopts::value(arguments.storage));
  add("system", "", cxxopts::value(arguments.system));
  add("positional", "", cxxopts::value<std::vector<std::string>>());
  options.parse_positional("positional");
  std::vector<const char*> argv = {"falconbench data"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  try {
    const cxxopts::ParseResult parsed = options.parse(static_cast<int>(argv.size()), argv.data());
    const Words given = parsed.count("positional") > 0 ? parsed["positional"].as<Words>() : Words();
    if (given.size() != 3)
      throw Error(ExitCode::kUsage,
                  "data takes three words: make or check, FORMAT and DIR; see "
                  "falconbench data --help");
    arguments.action = given[0];
    arguments.format = given[1];
    arguments.path = given[2];
    take_make_flags(parsed, names, arguments.make);
  } catch (const cxxopts::exceptions::exception& error) {
    throw Error(ExitCode::kUsage,
                std::string("data: ") + error.what() + "; see falconbench data --help");
  }
  return arguments;
}

MakeSpec make_spec(const base::Value& given, const DatasetFacts& format) {
  std::vector<Fault> faults;
  MakeSpec make;
  base::Value values = given;
  if (values.find("train") == nullptr) values.set("train", 512);
  base::Reader(catalog::words, faults).read(values, "", make);
  for (const std::string& name : spec::make_options_without_effect(make, format)) {
    faults.push_back({kSource, 0, 0, name,
                      "has no effect on " + format.name + ", which takes " +
                          base::join(spec::make_options(format), ", ")});
  }
  if (!faults.empty()) throw InputError(std::move(faults));
  return spec::filled_make(make, format);
}

/// DIR, below the mount of --storage where that is given.
std::string folder_of(const DataArguments& arguments) {
  if (arguments.storage.empty()) {
    if (arguments.system.empty()) return arguments.path;
    throw Error(ExitCode::kUsage, "data: --system has no effect without --storage");
  }
  const SystemFile system =
      arguments.system.empty() ? SystemFile{} : spec::load_system_file(arguments.system);
  return plan::folder_on(arguments.storage, arguments.path, system);
}

ExitCode make(const DataArguments& arguments, const data::DatasetRow& row) {
  const MakeSpec spec = make_spec(arguments.make, *catalog::find_dataset(arguments.format));
  const data::MadeSet made =
      row.make_files(arguments.path, spec, static_cast<std::uint64_t>(arguments.seed), {});
  std::printf("%s: %lld files, %.1f MB, %s\n", arguments.path.c_str(),
              static_cast<long long>(made.files), static_cast<double>(made.bytes) / 1e6,
              made.made ? "made" : "was there already");
  return ExitCode::kOk;
}

ExitCode check(const DataArguments& arguments, const data::DatasetRow& row) {
  const data::SetCheck result = row.check_files(arguments.path);
  for (const SkippedItem& item : result.left_out) {
    std::printf("%-12s %s: %s\n", item.reason.c_str(), base::printable(item.item, 400).c_str(),
                item.detail.c_str());
  }
  for (const std::string& warning : result.warnings) std::printf("warning: %s\n", warning.c_str());
  std::printf("%s\n", result.summary.c_str());
  return result.left_out.empty() ? ExitCode::kOk : ExitCode::kUsage;
}

}  // namespace

ExitCode data_command(const Words& words) {
  if (words.empty()) throw Error(ExitCode::kUsage, "data what? See falconbench data --help");
  const auto asks_for_help = [](const std::string& word) {
    return word == "--help" || word == "-h";
  };
  if (std::any_of(words.begin(), words.end(), asks_for_help)) {
    std::fputs(kDataHelp, stdout);
    return ExitCode::kOk;
  }
  DataArguments arguments = parse(words);
  const data::DatasetRow* row = data::find_dataset_row(arguments.format);
  if (row == nullptr || row->make_files == nullptr) {
    Words accepted;
    for (const data::DatasetRow& candidate : data::dataset_rows()) {
      if (candidate.make_files != nullptr) accepted.emplace_back(candidate.name);
    }
    throw Error(ExitCode::kUsage,
                "data: no files of the format \"" + base::printable(arguments.format) +
                    "\" can be made or checked; accepted: " + base::join_or(accepted));
  }
  arguments.path = folder_of(arguments);
  if (arguments.action == "make") return make(arguments, *row);
  if (arguments.action == "check") return check(arguments, *row);
  throw Error(ExitCode::kUsage, "data: unknown action \"" + base::printable(arguments.action) +
                                    "\"; accepted: make or check");
}

}  // namespace falcon::cli
