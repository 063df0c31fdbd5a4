// Pictures, folders and memory for the tests of src/data. Nothing here is read from outside the
// project.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::test {

enum class Colours { kRgb, kGray, kCmyk, kYcck, kCmykWithoutAdobe };

struct JpegOptions {
  int width = 160;
  int height = 120;
  Colours colours = Colours::kRgb;
  int sampling_x = 2;  // of the first component; the others have 1
  int sampling_y = 2;
  bool progressive = false;
  int restart_rows = 0;
  int quality = 90;
  bool own_codes = false;  // Huffman tables made for the picture, not the usual ones
  unsigned seed = 1;
};

/// Smooth colours with some grain.
std::vector<std::byte> make_jpeg(const JpegOptions& options);
/// A small valid PNG header and some bytes.
std::vector<std::byte> png_bytes();
/// The header of a picture that claims 65500 x 65500 pixels.
std::vector<std::byte> huge_jpeg();
/// `jpeg` with an APP1 EXIF block whose offsets lead outside.
std::vector<std::byte> with_garbage_exif(const std::vector<std::byte>& jpeg);
/// `jpeg` with `count` bytes from the middle of its scan replaced by others (never 0xff).
std::vector<std::byte> with_corrupt_scan(std::vector<std::byte> jpeg, std::size_t count);

/// A new folder below TMPDIR, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Makes missing folders.
void write_bytes(const std::filesystem::path& path, const std::vector<std::byte>& bytes);
std::vector<std::byte> read_bytes(const std::filesystem::path& path);

/// `count` pictures of different sizes below folder/class_a, class_b, class_c.
void write_picture_folder(const std::filesystem::path& folder, int count);

/// Pictures and texts of people, which the project does not hold: FALCONBENCH_DATA_DIR, else the
/// folder beside the checkout; nothing when neither is there.
std::optional<std::filesystem::path> outside_data(const std::string& below);

/// Plain memory; counts what is not given back.
class PlainAllocator : public SlotAllocator {
 public:
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;
  int live() const { return live_; }

 private:
  int live_ = 0;
};

/// A data set whose samples are numbers: tensor "value" i64 = index + 1000 * epoch. `unusable` and
/// `throws_at` say what happens to an index.
class NumberSet : public Dataset {
 public:
  explicit NumberSet(std::int64_t size) : size_(size) {}
  std::function<bool(std::int64_t)> unusable = [](std::int64_t) { return false; };
  std::function<void(std::int64_t)> before_read = [](std::int64_t) {};

  std::int64_t size() const override { return size_; }
  std::vector<TensorLayout> layout() const override {
    return {{"value", ElementType::kInt64, {}}, {"bytes", ElementType::kUint8, {3}}};
  }
  std::unique_ptr<ReadScratch> make_scratch() const override {
    return std::make_unique<ReadScratch>();
  }
  bool read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch&,
            ReadCost& cost, SkippedItem& skipped) const override;
  const std::vector<SkippedItem>& skipped_at_scan() const override { return none_; }
  std::map<std::string, std::string> facts() const override { return {{"folder", "numbers"}}; }

 private:
  std::int64_t size_;
  std::vector<SkippedItem> none_;
};

}  // namespace falcon::test
