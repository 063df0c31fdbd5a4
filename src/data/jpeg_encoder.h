// RGB pixels to a baseline JPEG file (4:2:0, as cameras and ImageNet mostly have it).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace falcon::data {

/// `rgb`: packed rows, 3 * width * height bytes. quality 1..100 as libjpeg has it. Throws
/// falcon::Error (kInternal).
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, int width, int height,
                                   int quality);

}  // namespace falcon::data
