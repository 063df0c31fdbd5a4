#include "data/image_manifest.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "base/counter_random.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "data/file_kind.h"
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

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw Error(ExitCode::kUsage, base::printable(folder.native(), 400) +
                                    " is not empty and was not made by falconbench (" + why +
                                    "): take an empty or a new folder");
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

std::string options_text(const MakeImagesOptions& o) {
  return "train=" + std::to_string(o.train) + " val=" + std::to_string(o.val) +
         " classes=" + std::to_string(o.classes) + " side=" + std::to_string(o.side_min) + "/" +
         std::to_string(o.side_mean) + "/" + std::to_string(o.side_max) +
         " quality=" + std::to_string(o.quality) + " seed=" + std::to_string(o.seed);
}

ImageManifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / kManifestName;
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    refuse(folder, "it holds no " + std::string(kManifestName));
  const base::Value value = base::parse_json(base::read_file(path.native()), path.native());
  ImageManifest manifest;
  manifest.options = text_of(value, "options", folder);
  manifest.content.files = integer_of(value, "files", folder);
  manifest.content.bytes = integer_of(value, "bytes", folder);
  const std::string hash = text_of(value, "content_hash", folder);
  const char* end = hash.data() + hash.size();
  const auto parsed = std::from_chars(hash.data(), end, manifest.content.hash, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) refuse(folder, "content_hash is no hash");
  return manifest;
}

void write_manifest(const fs::path& folder, const ImageManifest& manifest) {
  base::Value value = base::Value::object();
  value.set("format", "imagefolder");
  value.set("options", manifest.options);
  value.set("files", manifest.content.files);
  value.set("bytes", manifest.content.bytes);
  value.set("content_hash", manifest.content.hash_text());
  base::write_file_atomically((folder / kManifestName).native(), base::to_json(value, 2) + "\n");
}

SetContent count_set(const fs::path& folder) {
  SetContent content;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!is_jpeg_name(entry.path().filename().native())) continue;
    std::error_code error;
    const std::uintmax_t bytes = entry.file_size(error);
    if (error) continue;
    ++content.files;
    content.bytes += static_cast<std::int64_t>(bytes);
  }
  return content;
}

}  // namespace falcon::data
