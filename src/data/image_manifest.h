// The file that says what a made image folder holds, and the sums that it is compared by.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "data/make_images.h"

namespace falcon::data {

/// Number, bytes and hash of a set's JPEG files; the hash is a sum over the files, so it has no
/// order. It tells a changed set from the made one; it is not meant against forgery.
struct SetContent {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::uint64_t hash = 0;

  /// `item`: path below the set's folder, with '/'.
  void add(std::string_view item, std::span<const std::byte> file);
  void add(const SetContent& other);
  std::string hash_text() const;  // 16 hex digits
  friend bool operator==(const SetContent&, const SetContent&) = default;
};

struct ImageManifest {
  std::string options;  // options_text() of what it was made with
  SetContent content;
};

/// All options in a fixed order: two sets are the same when this is.
std::string options_text(const MakeImagesOptions& options);

/// Throws falcon::Error (kUsage) when there is none, or it cannot be read: the folder is not one
/// that was made here.
ImageManifest read_manifest(const std::filesystem::path& folder);
void write_manifest(const std::filesystem::path& folder, const ImageManifest& manifest);

/// Files and bytes of the set as it is now, by name and size only (hash 0).
SetContent count_set(const std::filesystem::path& folder);

}  // namespace falcon::data
