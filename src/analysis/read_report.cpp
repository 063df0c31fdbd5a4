#include "analysis/read_report.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "base/codec.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::analysis {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kSchemaVersion = 1;

[[noreturn]] void refuse(const base::Mark& mark, const std::string& key,
                         const std::string& message) {
  throw InputError({Fault{mark.source, mark.line, mark.column, key, message}});
}

void check_version(const base::Value& value) {
  const base::Value* version = value.find("schema_version");
  if (version == nullptr || value.find("run") == nullptr) {
    refuse(value.mark, "", "is no report of falconbench: it lacks schema_version and run");
  }
  if (const base::Value* document = value.find("document")) {
    refuse(document->mark, "document", "is another document of falconbench, not a report of a run");
  }
  if (version->is_integer() && version->as_integer() == kSchemaVersion) return;
  refuse(version->mark, "schema_version",
         "is " + base::printable(base::to_json(*version)) + "; this program reads " +
             std::to_string(kSchemaVersion));
}

}  // namespace

Report read_report(const std::string& path) {
  const std::string text = base::read_file(path);
  const base::Value value = base::parse_json(text, path);
  check_version(value);
  std::vector<Fault> faults;
  base::Reader reader(nullptr, faults);
  reader.skip_unknown_keys();
  Report report;
  reader.read(value, "", report);
  if (!faults.empty()) throw InputError(std::move(faults));
  return report;
}

std::vector<std::string> report_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::error_code error;
    if (!fs::is_directory(word, error)) {
      files.push_back(word);
      continue;
    }
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(word, error)) {
      if (entry.path().extension() == ".json") found.push_back(entry.path().string());
    }
    if (found.empty()) {
      throw Error(ExitCode::kUsage, base::printable(word, 400) + ": no *.json in this folder");
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace falcon::analysis
