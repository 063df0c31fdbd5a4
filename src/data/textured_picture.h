// Made-up pictures that cost a decoder about what photographs do and that a network can learn to
// tell apart: wide colour waves, a stripe pattern and a tint that belong to the class, and grain. A
// pure function of its arguments.
#pragma once
#include <cstdint>
#include <vector>

namespace falcon::data {

struct PictureOptions {
  int width = 500;
  int height = 375;
  int label = 0;
  int classes = 10;
  std::uint64_t seed = 0;
  std::int64_t index = 0;
};

/// Packed RGB rows.
std::vector<std::uint8_t> textured_picture(const PictureOptions& options);

}  // namespace falcon::data
