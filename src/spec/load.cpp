#include "spec/load.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/codec.h"
#include "base/codec_describe.h"
#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "spec/paths.h"
#include "spec/settings.h"
#include "spec/validate.h"
#include "spec/yaml.h"

namespace falcon::spec {
namespace {

namespace fs = std::filesystem;

void note_origins(const base::Value& value, const std::string& key,
                  std::map<std::string, std::string>& origins) {
  if (value.is_object()) {
    for (const base::Value::Member& member : value.as_object()) {
      note_origins(member.value, base::join_key(key, member.name), origins);
    }
  } else if (!value.is_null()) {
    const base::Mark& mark = value.mark;
    origins[key] = mark.line > 0 ? mark.source + ":" + std::to_string(mark.line) : mark.source;
  }
}

// In the order of the file; what is not in a file comes last.
void sort_by_place(std::vector<Fault>& faults) {
  std::stable_sort(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) {
    return std::tuple(a.source == kSettingSource, a.line, a.column) <
           std::tuple(b.source == kSettingSource, b.line, b.column);
  });
}

void make_absolute_if_set(const LoadedSpec& loaded, const std::string& key, std::string& path) {
  const auto origin = loaded.spec_origin.find(key);
  if (path.empty() || origin == loaded.spec_origin.end()) return;
  if (origin->second == kSettingSource) path = fs::absolute(path).lexically_normal().string();
}

}  // namespace

LoadedSpec load(const std::string& config, const std::vector<std::string>& settings) {
  LoadedSpec loaded;
  loaded.file = config;
  const fs::path parent = fs::path(config).parent_path();
  loaded.folder = parent.empty() ? "." : parent.string();
  loaded.tree = config.empty() ? base::Value::object() : parse_map_file(config);
  if (config.empty()) loaded.tree.mark.source = kSettingSource;

  std::vector<Fault> faults;
  const base::FieldInfo schema = base::describe(RunSpec());
  apply_settings(settings, schema, loaded.tree, faults);
  base::Reader(catalog::words, faults, base::dotted_keys(schema))
      .read(loaded.tree, "", loaded.spec);
  validate(loaded.spec, loaded.tree, faults);
  if (!faults.empty()) {
    sort_by_place(faults);
    throw InputError(std::move(faults));
  }

  note_origins(loaded.tree, "", loaded.spec_origin);
  if (loaded.spec.storage.empty()) {
    visit_paths(loaded.spec, [&](const char* key, std::string& path) {
      make_absolute_if_set(loaded, key, path);
    });
  }
  visit_own_paths(loaded.spec, [&](const char* key, std::string& path) {
    make_absolute_if_set(loaded, key, path);
  });
  if (loaded.spec.name.empty()) {
    loaded.spec.name = config.empty() ? loaded.spec.model : fs::path(config).stem().string();
    loaded.spec_origin["name"] = config.empty() ? "default: the model" : "default: the spec file";
  }
  return loaded;
}

}  // namespace falcon::spec
