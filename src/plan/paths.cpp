#include "plan/paths.h"

#include <filesystem>
#include <vector>

#include "base/text.h"
#include "falconbench/catalog.h"
#include "falconbench/errors.h"

namespace falcon::plan {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_storage(const std::string& name, const SystemFile& system) {
  std::vector<std::string> known;
  for (const auto& [known_name, entry] : system.storage) known.push_back(known_name);
  for (const WordFacts& word : catalog::storages()) {
    if (word.name != name) continue;
    throw Error(ExitCode::kHost,
                "storage " + name + ": " +
                    (system.path.empty() ? "no system file says where that is (key system)"
                                         : system.path + " has no storage of that name"));
  }
  const std::string near = base::nearest(name, known);
  throw InputError({Fault{"spec", 0, 0, "storage",
                          "unknown storage \"" + base::printable(name) + "\"" +
                              (near.empty() ? "" : ", did you mean " + near + "?") +
                              " Known: " + base::join(known, ", ")}});
}

fs::path mount_of(const RunSpec& resolved, const SystemFile& system, bool is_here) {
  const auto storage = system.storage.find(resolved.storage);
  if (storage == system.storage.end()) refuse_storage(resolved.storage, system);
  const fs::path mount = fs::path(storage->second.mount).lexically_normal();
  if (is_here && !fs::is_directory(mount)) {
    throw Error(ExitCode::kHost,
                "storage " + resolved.storage + ": its mount " + mount.string() + " is not there");
  }
  return mount;
}

/// A path of the resolved spec; may lead anywhere.
std::string place_of(const RunSpec& resolved, const SystemFile& system, bool is_here,
                     const std::string& path) {
  if (path.empty() || resolved.storage.empty()) return path;
  return (mount_of(resolved, system, is_here) / path).lexically_normal().string();
}

/// The same for what must lie on the storage.
std::string place_on_storage(const RunSpec& resolved, const SystemFile& system, bool is_here,
                             const std::string& key, const std::string& path) {
  const std::string place = place_of(resolved, system, is_here, path);
  if (path.empty() || resolved.storage.empty()) return place;
  const fs::path mount = mount_of(resolved, system, is_here);
  const fs::path below = fs::path(place).lexically_relative(mount);
  if (below.empty() || *below.begin() == "..") {
    throw InputError(
        {Fault{"spec", 0, 0, key,
               path + " is outside " + mount.string() + ", the mount of " + resolved.storage}});
  }
  return place;
}

constexpr const char* kCheckpointFile = "checkpoint.safetensors";

/// A checkpoint may be named by its folder or by itself.
std::string checkpoint_in(const std::string& place) {
  if (place.empty() || !fs::is_directory(place)) return place;
  return (fs::path(place) / kCheckpointFile).string();
}

}  // namespace

std::string data_folder(const RunSpec& resolved, const SystemFile& system, bool is_here) {
  return place_on_storage(resolved, system, is_here, "data.path", resolved.data.path);
}

std::string folder_on(const std::string& storage, const std::string& path,
                      const SystemFile& system) {
  RunSpec spec;
  spec.storage = storage;
  spec.data.path = path;
  return data_folder(spec, system);
}

FilePlan file_plan(const RunSpec& resolved, const SystemFile& system, bool is_here) {
  FilePlan files;
  if (resolved.init != kRandomInit) files.init = place_of(resolved, system, is_here, resolved.init);
  files.resume = checkpoint_in(place_of(resolved, system, is_here, resolved.checkpoint.resume));
  files.save_weights = place_of(resolved, system, is_here, resolved.save_weights);
  const std::string folder =
      place_on_storage(resolved, system, is_here, "checkpoint.path", resolved.checkpoint.path);
  if (!folder.empty()) files.checkpoint = (fs::path(folder) / kCheckpointFile).string();
  files.telemetry_raw = resolved.telemetry.raw;
  return files;
}

}  // namespace falcon::plan
