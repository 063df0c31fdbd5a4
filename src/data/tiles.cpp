#include "data/tiles.h"

#include <algorithm>
#include <cstring>

namespace falcon::data {
namespace {

constexpr std::int64_t kRecordNumbers = sizeof(TileRecord) / sizeof(std::int32_t);
constexpr std::int64_t kAxes = 2;

std::size_t area(int width, int height) {
  return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
}

// Every pixel as it is.
void write_identity(int count, std::int32_t* numbers) {
  for (int i = 0; i < count; ++i) numbers[i] = i * kPlaceFactor;
}

class TileDrawer {
 public:
  TileDrawer(const TileTensors& sample, int image_size, std::uint8_t* rgb)
      : sample_(sample), image_size_(static_cast<std::size_t>(image_size)), rgb_(rgb) {}

  void draw(int place) {
    const TileRecord& tile = sample_.tiles[place];
    const std::int32_t* numbers = sample_.axes + kAxes * place * image_size_;
    columns_.assign({numbers, static_cast<std::size_t>(tile.columns)});
    lines_.assign({numbers + image_size_, static_cast<std::size_t>(tile.lines)});
    const std::size_t row_bytes = 3 * image_size_;
    std::uint8_t* corner = rgb_ + static_cast<std::size_t>(tile.top) * row_bytes +
                           3 * static_cast<std::size_t>(tile.left);
    rows_.begin(columns_, lines_, corner, row_bytes);
    row_.resize(4 * static_cast<std::size_t>(tile.row_pixels) + RowSink::kSlackBytes);
    const std::uint8_t* pixels = sample_.pixels + 3 * static_cast<std::size_t>(tile.first_pixel);
    for (int y = 0; y < lines_.source_end(); ++y) {
      for (int x = 0; x < tile.row_pixels; ++x, pixels += 3)
        std::memcpy(&row_[4 * static_cast<std::size_t>(x)], pixels, 3);
      rows_.row(y, row_.data());
    }
  }

 private:
  const TileTensors& sample_;
  std::size_t image_size_;
  std::uint8_t* rgb_;
  LinearAxis columns_;
  LinearAxis lines_;
  BilinearRows rows_;
  std::vector<std::uint8_t> row_;
};

}  // namespace

std::vector<TensorLayout> tile_layout(int image_size) {
  return {
      {"pixels", ElementType::kUint8, {std::int64_t{kSourceShare} * image_size * image_size, 3}},
      {"tiles", ElementType::kInt32, {kTiles, kRecordNumbers}},
      {"axes", ElementType::kInt32, {kTiles, kAxes, image_size}},
      {"gains", ElementType::kFloat32, {3}},
  };
}

TileWriter::TileWriter(const TileTensors& tensors, int image_size, const HsvGains& gains)
    : tensors_(tensors), image_size_(static_cast<std::size_t>(image_size)) {
  std::fill_n(tensors.tiles, kTiles, TileRecord{});
  std::fill_n(tensors.axes, kTiles * kAxes * image_size, 0);
  *tensors.gains = gains;
}

bool TileWriter::add(BilinearReader& reader, const Placement::Window& window,
                     JpegDecoder::Extent extent, const JpegRows* rows) {
  columns_.assign(window.columns);
  lines_.assign(window.lines);
  TileRecord tile{window.left,
                  window.top,
                  columns_.out_count(),
                  lines_.out_count(),
                  static_cast<std::int32_t>(used_pixels_),
                  columns_.source_end() - columns_.source_begin()};
  const std::size_t source = area(tile.row_pixels, lines_.source_end() - lines_.source_begin());
  const std::size_t drawn = area(tile.columns, tile.lines);
  // Windows do not overlap: what comes after needs no more than this when it is resized here.
  const std::size_t whole = image_size_ * image_size_;
  const std::size_t kept_free = whole - drawn_pixels_ - drawn;
  const bool fits = used_pixels_ + source + kept_free <= kSourceShare * whole;
  std::int32_t* numbers = tensors_.axes + kAxes * count_ * image_size_;
  if (fits) {
    if (!reader.read_source(columns_, lines_, extent, next_pixels(), rows)) return false;
    columns_.write(numbers);
    lines_.write(numbers + image_size_);
  } else {
    const std::size_t row_bytes = 3 * static_cast<std::size_t>(tile.columns);
    if (!reader.read(columns_, lines_, extent, next_pixels(), row_bytes, rows)) return false;
    tile.row_pixels = tile.columns;
    write_identity(tile.columns, numbers);
    write_identity(tile.lines, numbers + image_size_);
  }
  used_pixels_ += fits ? source : drawn;
  drawn_pixels_ += drawn;
  tensors_.tiles[count_++] = tile;
  return true;
}

void draw_tiles(const TileTensors& sample, int image_size, std::uint8_t* rgb) {
  const std::size_t pixels = area(image_size, image_size);
  std::memset(rgb, kPaddingLevel, 3 * pixels);
  TileDrawer drawer(sample, image_size, rgb);
  for (int place = 0; place < kTiles; ++place) {
    if (sample.tiles[place].columns > 0) drawer.draw(place);
  }
  apply_hsv(*sample.gains, rgb, pixels);
}

}  // namespace falcon::data
