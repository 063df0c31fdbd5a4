// What training data is: a Dataset writes samples by index into memory given to it; data/loader.h
// turns it into batches. No Torch here: the engine passes pinned memory in through SlotAllocator
// and wraps the bytes as tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace falcon {

enum class ElementType { kUint8, kInt32, kInt64, kFloat32 };
std::size_t element_bytes(ElementType type);

/// One tensor of a batch: its name ("images", "labels", "flip", ...), and the shape of one sample
/// of it.
struct TensorLayout {
  std::string name;
  ElementType type = ElementType::kUint8;
  std::vector<std::int64_t> sample_shape;  // {} for one number a sample
  std::size_t sample_bytes() const;
};

/// Which sample, for which pass over the data: all randomness of augmentation comes from (seed,
/// epoch, index) and from nothing else, so a batch is the same for any number of threads and ranks.
struct SampleKey {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t index = 0;  // 0 .. size() - 1
};

/// A file or record left out, with its reason word ("damaged", "empty", "not_jpeg", "too_large",
/// ...) and a sentence.
struct SkippedItem {
  std::string item;    // path below the data folder, or a record's id
  std::string reason;  // one word, the key it is counted under
  std::string detail;
};
template <class V>
void visit_fields(SkippedItem& s, V& v) {
  v.field("item", s.item, "file or record");
  v.field("reason", s.reason, "word it is counted under");
  v.field("detail", s.detail, "what was wrong");
}

/// Per-thread memory that read() may keep between calls (decoder state, row buffers). Made by the
/// dataset.
class ReadScratch {
 public:
  virtual ~ReadScratch() = default;
};

/// Bytes and seconds of one read() call.
struct ReadCost {
  std::int64_t file_bytes = 0;
  double io_s = 0;      // opening and reading
  double decode_s = 0;  // decoding, cropping, resizing
};

/// How the files of a data set are read.
struct FileReading {
  std::string used = "none";  // a word of data.loader.io; none: reads no file
  std::string fallback;       // why it is not the one asked for, or not for all; empty: it is
};

/// Thread-safe after construction. The constructor throws falcon::Error with the file and the
/// reason when the data as a whole cannot be used; single bad items are skipped and counted.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;  // samples in one epoch, at least 1
  virtual std::vector<TensorLayout> layout() const = 0;
  virtual std::unique_ptr<ReadScratch> make_scratch() const = 0;
  /// Writes the sample into destinations[i] (layout()[i].sample_bytes() bytes each, every byte).
  /// Returns false, with `skipped` filled, when the item turned out to be damaged: the loader then
  /// takes the next usable index.
  virtual bool read(const SampleKey& key, std::span<std::byte* const> destinations,
                    ReadScratch& scratch, ReadCost& cost, SkippedItem& skipped) const = 0;
  /// Items left out when the folder was scanned (not those that read() finds): the first 1000 in
  /// full, all counted.
  virtual const std::vector<SkippedItem>& skipped_at_scan() const = 0;
  virtual std::map<std::string, std::int64_t> skip_counts_at_scan() const;  // by reason
  /// Facts for the report: classes, bytes on disk, ... as name -> text.
  virtual std::map<std::string, std::string> facts() const = 0;
  /// The files that samples are read from, each once: 0 <= index < file_count().
  virtual std::int64_t file_count() const { return 0; }
  virtual std::filesystem::path file(std::int64_t index) const;
  /// As far as it has been used.
  virtual FileReading reading() const { return {}; }
};

/// Where batch memory comes from. The engine gives pinned host memory, tests plain memory.
class SlotAllocator {
 public:
  virtual ~SlotAllocator() = default;
  virtual std::byte* allocate(
      std::size_t bytes) = 0;  // at least 64-byte aligned; throws std::bad_alloc
  virtual void release(std::byte* memory) noexcept = 0;
};

}  // namespace falcon
