// A set of made files: the flow that fills a folder with one, the manifest that says what it holds,
// and what a check of a set finds. The formats (catalog.cpp) bring the files.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::data {

struct MadeSet {
  bool made = false;  // false: the folder held exactly this already, nothing was done
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::string content_hash;  // of names and bytes of all files
};

/// What `data check` says of a folder.
struct SetCheck {
  std::vector<SkippedItem> left_out;  // every one, sorted by item
  std::vector<std::string> warnings;
  std::string summary;  // one line: what is usable, what was ignored
};

/// Called now and then by one thread with the items done; with (0, 0) while another process makes
/// the same folder and this one waits. What it throws ends the work.
using ProgressFunction = std::function<void(std::int64_t done, std::int64_t total)>;

/// Number, bytes and hash of a set's files; the hash is a sum over the files, so it has no order.
/// It tells a changed set from the made one; it is not meant against forgery.
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

/// What is made: two sets are the same when these texts are.
struct SetRecipe {
  std::string format;
  std::string options;                             // all of them in a fixed order, for people too
  bool (*is_counted)(std::string_view file_name);  // files that belong to the set; others may come
};

/// Fills an empty or absent folder: write(folder) writes the files into a folder beside it, which
/// is renamed when all is there, so an interrupted call leaves no half set. A folder that holds a
/// set of the same recipe, unchanged in number and bytes, is left as it is. Of several processes,
/// on hosts that share the folder too, one makes it and the others wait (data/folder_lock.h).
/// Throws falcon::Error: kUsage for a folder that holds anything else; kHost when writing fails;
/// and what write and progress throw.
MadeSet make_set(const std::filesystem::path& path, const SetRecipe& recipe,
                 const ProgressFunction& progress,
                 const std::function<SetContent(const std::filesystem::path& folder)>& write);

/// Throws falcon::Error (kHost) naming the path.
void make_set_folder(const std::filesystem::path& folder);

/// Writes files of a set and counts them; several threads may, each with its own content. Throws
/// falcon::Error (kHost) naming the path.
class SetWriter {
 public:
  explicit SetWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// item: path below the set's folder, with '/'.
  void write(const std::string& item, std::span<const std::byte> bytes, SetContent& content) const;
  void write(const std::string& item, std::string_view text, SetContent& content) const {
    write(item, std::as_bytes(std::span(text)), content);
  }

 private:
  std::filesystem::path folder_;
};

/// "class_00007"
std::string made_class_name(std::int64_t label);

/// Name of the file that says what a made folder holds.
inline constexpr const char* kManifestName = "falconbench_data.json";

struct SetManifest {
  std::string format;
  std::string options;
  SetContent content;
};

/// Throws falcon::Error (kUsage) when there is none, or it cannot be read: the folder is not one
/// that was made here.
SetManifest read_manifest(const std::filesystem::path& folder);
/// "" when the folder has no manifest or holds what it says; else a warning for people.
std::string manifest_warning(const std::filesystem::path& folder, const SetContent& content);

}  // namespace falcon::data
