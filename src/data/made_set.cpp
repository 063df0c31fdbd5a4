#include "data/made_set.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <system_error>

#include "base/counter_random.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "data/folder_lock.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t hash) {
  std::size_t at = 0;
  for (; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    hash = base::mix64(hash + base::kGoldenRatio64) ^ word;
  }
  return base::mix64(hash ^ bytes.size());
}

std::string shown(const fs::path& path) {
  return base::printable(path.native(), 400);
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw Error(ExitCode::kUsage, shown(folder) + " is not empty and was not made by falconbench (" +
                                    why + "): take an empty or a new folder");
}

std::int64_t integer_of(const base::Value& manifest, const char* name, const fs::path& folder) {
  const base::Value* value = manifest.find(name);
  if (value == nullptr || !value->is_integer()) {
    refuse(folder, std::string(kManifestName) + " has no number " + name);
  }
  return value->as_integer();
}

std::string text_of(const base::Value& manifest, const char* name, const fs::path& folder) {
  const base::Value* value = manifest.find(name);
  if (value == nullptr || !value->is_text()) {
    refuse(folder, std::string(kManifestName) + " has no text " + name);
  }
  return value->as_text();
}

// A folder beside the wanted one, gone again unless it was renamed.
class FolderInWork {
 public:
  explicit FolderInWork(const fs::path& wanted)
      : path_(wanted.native() + ".making-" + std::to_string(std::random_device()())) {}
  ~FolderInWork() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_manifest(const fs::path& folder, const SetManifest& manifest) {
  base::Value value = base::Value::object();
  value.set("format", manifest.format);
  value.set("options", manifest.options);
  value.set("files", manifest.content.files);
  value.set("bytes", manifest.content.bytes);
  value.set("content_hash", manifest.content.hash_text());
  base::write_file_atomically((folder / kManifestName).native(), base::to_json(value, 2) + "\n");
}

// Files and bytes of the set as it is now, by name and size only. A hidden folder, as that of the
// cached tokens, is no part of it.
SetContent count_set(const fs::path& folder, const SetRecipe& recipe) {
  SetContent content;
  for (fs::recursive_directory_iterator entry(folder), end; entry != end; ++entry) {
    const std::string name = entry->path().filename();
    if (entry->is_directory() && name.starts_with('.')) entry.disable_recursion_pending();
    if (!recipe.is_counted(name)) continue;
    std::error_code error;
    const std::uintmax_t bytes = entry->file_size(error);
    if (error) continue;
    ++content.files;
    content.bytes += static_cast<std::int64_t>(bytes);
  }
  return content;
}

// True when the folder holds what the recipe makes; throws when it holds anything else.
bool is_up_to_date(const fs::path& path, const SetRecipe& recipe, MadeSet& made) {
  std::error_code error;
  if (!fs::exists(path, error)) return false;
  if (!fs::is_directory(path, error)) {
    throw Error(ExitCode::kUsage, shown(path) + " is not a folder");
  }
  if (fs::is_empty(path, error)) return false;
  const SetManifest manifest = read_manifest(path);
  if (manifest.format != recipe.format || manifest.options != recipe.options) {
    throw Error(ExitCode::kUsage, shown(path) + " holds a set made with other options (" +
                                      manifest.format + ": " + manifest.options +
                                      "); take another folder, or remove this one");
  }
  const SetContent now = count_set(path, recipe);
  if (now.files != manifest.content.files || now.bytes != manifest.content.bytes) {
    throw Error(ExitCode::kUsage,
                shown(path) + " has changed since it was made: " + std::to_string(now.files) +
                    " files of " + std::to_string(now.bytes) + " bytes, made were " +
                    std::to_string(manifest.content.files) + " of " +
                    std::to_string(manifest.content.bytes) + "; remove it to have it made again");
  }
  made = {false, now.files, now.bytes, manifest.content.hash_text()};
  return true;
}

}  // namespace

void SetContent::add(std::string_view item, std::span<const std::byte> file) {
  ++files;
  bytes += static_cast<std::int64_t>(file.size());
  hash += hash_bytes(file, hash_bytes(std::as_bytes(std::span(item)), 0));
}

void SetContent::add(const SetContent& other) {
  files += other.files;
  bytes += other.bytes;
  hash += other.hash;
}

std::string SetContent::hash_text() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

SetManifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / kManifestName;
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    refuse(folder, "it holds no " + std::string(kManifestName));
  const base::Value value = base::parse_json(base::read_file(path.native()), path.native());
  SetManifest manifest;
  manifest.format = text_of(value, "format", folder);
  manifest.options = text_of(value, "options", folder);
  manifest.content.files = integer_of(value, "files", folder);
  manifest.content.bytes = integer_of(value, "bytes", folder);
  const std::string hash = text_of(value, "content_hash", folder);
  const char* end = hash.data() + hash.size();
  const auto parsed = std::from_chars(hash.data(), end, manifest.content.hash, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) refuse(folder, "content_hash is no hash");
  return manifest;
}

std::string manifest_warning(const fs::path& folder, const SetContent& content) {
  std::error_code error;
  if (!fs::exists(folder / kManifestName, error)) return {};
  if (read_manifest(folder).content == content) return {};
  return "the files are not those that " + std::string(kManifestName) + " says were made";
}

void make_set_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
  throw Error(ExitCode::kHost, "cannot make " + shown(folder) + ": " + error.message());
}

void SetWriter::write(const std::string& item, std::span<const std::byte> bytes,
                      SetContent& content) const {
  const fs::path path = folder_ / item;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    throw Error(ExitCode::kHost,
                "cannot write " + shown(path) + ": " + std::generic_category().message(errno));
  }
  content.add(item, bytes);
}

std::string made_class_name(std::int64_t label) {
  char text[32];
  std::snprintf(text, sizeof text, "class_%05lld", static_cast<long long>(label));
  return text;
}

MadeSet make_set(const fs::path& given, const SetRecipe& recipe, const ProgressFunction& progress,
                 const std::function<SetContent(const fs::path& folder)>& write) {
  fs::path path = fs::absolute(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // a/b/ is a/b
  MadeSet made;
  if (is_up_to_date(path, recipe, made)) return made;
  make_set_folder(path.parent_path());
  const FolderLock lock(path, [&progress] {
    if (progress) progress(0, 0);
  });
  if (is_up_to_date(path, recipe, made)) return made;  // by who had the lock before
  const FolderInWork in_work(path);
  make_set_folder(in_work.path());
  const SetContent content = write(in_work.path());
  write_manifest(in_work.path(), {recipe.format, recipe.options, content});
  std::error_code error;
  fs::rename(in_work.path(), path, error);
  if (error && is_up_to_date(path, recipe, made)) return made;  // by who makes it without a lock
  if (error) {
    throw Error(ExitCode::kHost, "cannot rename " + shown(in_work.path()) + " to " + shown(path) +
                                     ": " + error.message());
  }
  return {true, content.files, content.bytes, content.hash_text()};
}

}  // namespace falcon::data
