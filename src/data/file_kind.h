// What a file is by its first bytes and by its name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace falcon::data {

/// Start-of-image marker and the first byte of the next one.
bool starts_as_jpeg(std::span<const std::byte> head);
/// "a PNG file", "a WebP file", ..., or "bytes 0x12 0x34 ...": for a file that is no JPEG.
std::string not_jpeg_text(std::span<const std::byte> head);
std::string too_large_text(int width, int height, std::int64_t max_pixels);

/// Width and height of the first frame header within `head`; false when it lies beyond (or there is
/// none).
bool jpeg_size(std::span<const std::byte> head, int& width, int& height);

/// .jpg or .jpeg in any case.
bool is_jpeg_name(std::string_view file_name);
/// The name of a picture format that is not read: .png, .webp, .gif, .bmp, .tif, .tiff, .ppm, in
/// any case.
bool is_other_picture_name(std::string_view file_name);

}  // namespace falcon::data
