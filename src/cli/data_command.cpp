// falconbench data make|check: fills a folder with made samples, and finds what is damaged in one.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <algorithm>
#include <cstdio>

#include <cxxopts.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/data_set.h"
#include "cli/help.h"
#include "data/check_images.h"
#include "data/make_images.h"

namespace falcon::cli {
namespace {

struct DataArguments {
  std::string action, format, path;
  MakeSpec make;
  std::uint64_t seed = 0;
};

DataArguments parse(const Words& words) {
  DataArguments arguments;
  arguments.make.train = 512;
  cxxopts::Options options("falconbench data");
  options.add_options()("train", "", cxxopts::value(arguments.make.train))(
      "val", "", cxxopts::value(arguments.make.val))("classes", "",
                                                     cxxopts::value(arguments.make.classes))(
      "side", "", cxxopts::value(arguments.make.side))("quality", "",
                                                       cxxopts::value(arguments.make.quality))(
      "seed", "", cxxopts::value(arguments.seed))("positional", "",
                                                  cxxopts::value<std::vector<std::string>>());
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
  } catch (const cxxopts::exceptions::exception& error) {
    throw Error(ExitCode::kUsage,
                std::string("data: ") + error.what() + "; see falconbench data --help");
  }
  return arguments;
}

ExitCode make(const DataArguments& arguments) {
  const data::MadeImages made = make_data(arguments.path, arguments.make, arguments.seed);
  std::printf("%s: %lld files, %.1f MB, %s\n", arguments.path.c_str(),
              static_cast<long long>(made.files), static_cast<double>(made.bytes) / 1e6,
              made.made ? "made" : "was there already");
  return ExitCode::kOk;
}

ExitCode check(const DataArguments& arguments) {
  const data::ImageFolderCheck result = data::check_images(arguments.path);
  for (const SkippedItem& item : result.left_out) {
    std::printf("%-12s %s: %s\n", item.reason.c_str(), base::printable(item.item, 400).c_str(),
                item.detail.c_str());
  }
  for (const std::string& warning : result.warnings) std::printf("warning: %s\n", warning.c_str());
  std::printf(
      "%lld usable files in %lld classes, %.1f MB; %zu left out, %lld other files ignored\n",
      static_cast<long long>(result.usable_files), static_cast<long long>(result.classes),
      static_cast<double>(result.usable_bytes) / 1e6, result.left_out.size(),
      static_cast<long long>(result.other_files));
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
  const DataArguments arguments = parse(words);
  const data::DatasetRow* row = data::find_dataset_row(arguments.format);
  if (row == nullptr || !row->needs_path) {
    Words accepted;
    for (const data::DatasetRow& candidate : data::dataset_rows()) {
      if (candidate.needs_path) accepted.emplace_back(candidate.name);
    }
    throw Error(ExitCode::kUsage,
                "data: no files of the format \"" + base::printable(arguments.format) +
                    "\" can be made or checked; accepted: " + base::join_or(accepted));
  }
  if (arguments.action == "make") return make(arguments);
  if (arguments.action == "check") return check(arguments);
  throw Error(ExitCode::kUsage, "data: unknown action \"" + base::printable(arguments.action) +
                                    "\"; accepted: make or check");
}

}  // namespace falcon::cli
