// Weight files in the safetensors format: 8 bytes with the length of a JSON header, the header
// (type, shape and place of every tensor), then the bytes of the tensors without gaps,
// little-endian, row-major. Format: https://github.com/huggingface/safetensors#format
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/mapped_file.h"

namespace falcon::weights {

/// The types that a weight file may hold here: kI64 for counts, the others for weights.
enum class DType { kF32, kF16, kBF16, kI64 };
std::string_view name_of(DType type);  // as in the header: F32, F16, BF16, I64
std::size_t bytes_of(DType type);

struct TensorInfo {
  std::string name;
  DType type = DType::kF32;
  std::vector<std::int64_t> shape;  // {} for a scalar
};
/// "[64, 3, 7, 7]".
std::string shape_text(std::span<const std::int64_t> shape);

/// A file mapped into memory. Thread-safe after construction.
class SafetensorsFile {
 public:
  /// Reads and checks the whole header. Throws Error(kUsage) naming the file and, where there is
  /// one, the tensor: a header longer than the file or than 100 MB, JSON that is broken or holds a
  /// key twice, another type than those of DType, a shape whose size is not that of its bytes,
  /// bytes outside the file, overlaps, gaps and bytes that belong to no tensor.
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return path_; }
  std::int64_t file_bytes() const { return static_cast<std::int64_t>(file_.bytes().size()); }
  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in the header's order
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// Of tensors()[i]; not aligned to anything. Valid as long as this.
  std::span<const std::byte> bytes(std::size_t i) const {
    return data_.subspan(places_[i].begin, places_[i].end - places_[i].begin);
  }

 private:
  struct Place {
    std::size_t begin = 0, end = 0;  // in data_
  };
  class HeaderReader;

  std::string path_;
  base::MappedFile file_;
  std::span<const std::byte> data_;  // behind the header
  std::vector<TensorInfo> tensors_;
  std::vector<Place> places_;  // beside tensors_
  std::map<std::string, std::string> metadata_;
};

/// Writes a file that appears whole or not at all (base::AtomicFile). One thread.
class SafetensorsWriter {
 public:
  /// Makes missing parent folders and writes the header. Throws Error(kUnwritable) naming the
  /// path. REQUIRES: names are unique, UTF-8 and not "__metadata__"; so are the keys of metadata.
  SafetensorsWriter(const std::string& path, std::vector<TensorInfo> tensors,
                    const std::map<std::string, std::string>& metadata);

  /// In the order in which write() wants their bytes: larger types first, so that all are aligned.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  /// The bytes of the next tensor. REQUIRES: as many as its type and shape say.
  void write(std::span<const std::byte> bytes);
  /// Once, after the last tensor; the size of the file. Throws Error(kUnwritable).
  std::int64_t commit();

 private:
  std::vector<TensorInfo> tensors_;
  base::AtomicFile file_;
  std::size_t next_ = 0;
  std::int64_t file_bytes_ = 0;
};

}  // namespace falcon::weights
