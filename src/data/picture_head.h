// Whether a picture file can be used: by its first bytes, or by decoding all of it.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>

#include "data/file_bytes.h"
#include "data/jpeg_decoder.h"

namespace falcon::data {

struct PictureHead {
  std::size_t file_bytes = 0;
  int width = 0;  // 0 where the size lies beyond what was read (a long EXIF block)
  int height = 0;
  std::optional<DecodeProblem> problem;  // unreadable, empty, not_jpeg, too_large
};

/// `buffer` is used again for the next file.
PictureHead read_picture_head(const std::filesystem::path& path, FileBytes& buffer);

/// Reads and decodes all of a file; nothing when it is whole. `file` holds its bytes afterwards.
std::optional<DecodeProblem> whole_file_problem(const std::filesystem::path& path, FileBytes& file,
                                                JpegDecoder& decoder);

}  // namespace falcon::data
