// Made-up pictures for detection: coloured shapes on the texture of data/textured_picture.h. Shape
// and colour belong to the class, the boxes are exactly the drawn pixels, and no shape covers
// another. A pure function of its arguments.
#pragma once
#include <cstdint>
#include <vector>

namespace falcon::data {

struct ShapesOptions {
  int width = 640;
  int height = 480;
  int classes = 8;
  int boxes = 7;  // mean number of shapes; one picture in fifty has none
  std::uint64_t seed = 0;
  std::int64_t index = 0;
};

/// Pixels.
struct DrawnShape {
  int label = 0;
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
};

struct ShapesPicture {
  std::vector<std::uint8_t> rgb;  // packed rows
  std::vector<DrawnShape> shapes;
};
ShapesPicture shapes_picture(const ShapesOptions& options);

}  // namespace falcon::data
