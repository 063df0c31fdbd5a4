// Files of known content, as a data set of which only the files matter.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data_loader/picture_files.h"

namespace falcon::test {

/// Bytes that differ from file to file and from block to block.
std::string content_of(std::size_t bytes, unsigned seed);
/// Written through to the device, so that its pages can be dropped.
void write_file(const std::filesystem::path& path, const std::string& content);

class FileSet : public NumberSet {
 public:
  /// One file for each size, below folder.
  FileSet(const std::filesystem::path& folder, const std::vector<std::size_t>& sizes);
  std::int64_t file_count() const override { return std::ssize(files_); }
  std::filesystem::path file(std::int64_t index) const override {
    return files_[static_cast<std::size_t>(index)];
  }

 private:
  std::vector<std::filesystem::path> files_;
};

}  // namespace falcon::test
