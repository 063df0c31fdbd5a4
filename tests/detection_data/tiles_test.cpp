// Samples that the training device draws: drawn, they are what the data set itself draws.
#include "data/tiles.h"

#include <fstream>

#include <gtest/gtest.h>

#include "data/detection_dataset.h"
#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

using test::TemporaryFolder;

constexpr int kSide = 192;

// Pictures with grain, of the sizes given, with a box each.
void write_pictures(const TemporaryFolder& folder, const std::vector<PictureSize>& sizes) {
  std::filesystem::create_directories(folder / "labels/train");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    test::JpegOptions o;
    o.width = sizes[i].width;
    o.height = sizes[i].height;
    o.sampling_x = o.sampling_y = i % 2 == 0 ? 1 : 2;
    o.seed = static_cast<unsigned>(i);
    const std::string name = "p" + std::to_string(i);
    test::write_bytes(folder / ("images/train/" + name + ".jpg"), test::make_jpeg(o));
    std::ofstream(folder / ("labels/train/" + name + ".txt")) << "0 0.5 0.5 0.6 0.7\n";
  }
}

std::unique_ptr<Dataset> make(const TemporaryFolder& folder, const std::string& augment,
                              bool draw_on_device) {
  DatasetOptions options;
  options.format = "yolo";
  options.path = folder.path();
  options.subfolder = "train";
  options.classes = 1;
  options.image_size = kSide;
  options.augment = augment;
  options.draw_on_device = draw_on_device;
  return make_dataset(options);
}

// Memory for one sample.
struct Memory {
  explicit Memory(const Dataset& dataset) : scratch(dataset.make_scratch()) {
    for (const TensorLayout& tensor : dataset.layout()) {
      tensors.emplace_back(tensor.sample_bytes(), std::byte{0x5A});
    }
    for (std::vector<std::byte>& tensor : tensors) places.push_back(tensor.data());
  }
  bool read(const Dataset& dataset, const SampleKey& key) {
    ReadCost cost;
    SkippedItem skipped;
    return dataset.read(key, places, *scratch, cost, skipped);
  }
  TileTensors tiles() const {
    return {reinterpret_cast<std::uint8_t*>(places[0]), reinterpret_cast<TileRecord*>(places[2]),
            reinterpret_cast<std::int32_t*>(places[3]), reinterpret_cast<HsvGains*>(places[4])};
  }
  std::unique_ptr<ReadScratch> scratch;
  std::vector<std::vector<std::byte>> tensors;
  std::vector<std::byte*> places;
};

struct Seen {
  int same = 0;
  int tiles = 0;
  int resized_before = 0;  // because their source has no room
};

bool is_as_it_is(const TileRecord& tile, const std::int32_t* columns) {
  for (int i = 0; i < tile.columns; ++i) {
    if (columns[i] != i * kPlaceFactor) return false;
  }
  return tile.row_pixels == tile.columns;
}

// Two epochs: of the second one it is known that the files are whole, and where their rows begin.
Seen compare(const TemporaryFolder& folder, const std::string& augment) {
  const auto drawn = make(folder, augment, false);
  const auto undrawn = make(folder, augment, true);
  Memory expected(*drawn);
  Memory got(*undrawn);
  std::vector<std::byte> picture(expected.tensors[0].size());
  Seen seen;
  for (std::int64_t epoch = 0; epoch < 6; ++epoch) {
    for (std::int64_t i = 0; i < drawn->size(); ++i) {
      EXPECT_TRUE(expected.read(*drawn, {1, epoch, i}));
      EXPECT_TRUE(got.read(*undrawn, {1, epoch, i}));
      draw_tiles(got.tiles(), kSide, reinterpret_cast<std::uint8_t*>(picture.data()));
      EXPECT_EQ(got.tensors[1], expected.tensors[1]);  // targets
      seen.same += picture == expected.tensors[0] ? 1 : 0;
      for (int t = 0; t < kTiles; ++t) {
        const TileRecord& tile = got.tiles().tiles[t];
        if (tile.columns == 0) continue;
        ++seen.tiles;
        const std::int32_t* columns = got.tiles().axes + 2 * t * kSide;
        seen.resized_before += is_as_it_is(tile, columns) ? 1 : 0;
      }
    }
  }
  return seen;
}

TEST(Tiles, DrawnTheyAreThePicturesOfTheDataSet) {
  const TemporaryFolder folder;
  write_pictures(folder, {{192, 144}, {144, 192}, {300, 110}, {100, 77}, {192, 192}});
  const Seen mosaics = compare(folder, "mosaic");
  EXPECT_EQ(mosaics.same, 30);
  EXPECT_GT(mosaics.tiles, 60);
  EXPECT_LT(mosaics.resized_before, mosaics.tiles / 3);
  const Seen singles = compare(folder, "single");
  EXPECT_EQ(singles.same, 30);
  EXPECT_EQ(singles.tiles, 30);
}

TEST(Tiles, WhatHasNoRoomIsResizedBefore) {
  const TemporaryFolder folder;
  write_pictures(folder, {{700, 500}, {450, 800}, {192, 150}, {1000, 900}});
  const Seen seen = compare(folder, "mosaic");
  EXPECT_EQ(seen.same, 24);
  EXPECT_GT(seen.resized_before, 12);
}

TEST(Tiles, ADamagedPictureLeavesNoTrace) {
  const TemporaryFolder folder;
  write_pictures(folder, {{192, 144}, {144, 192}, {192, 150}, {150, 192}});
  const auto path = folder / "images/train/p2.jpg";
  test::write_bytes(path, test::with_corrupt_scan(test::read_bytes(path), 40));
  const auto drawn = make(folder, "mosaic", false);
  const auto undrawn = make(folder, "mosaic", true);
  Memory expected(*drawn);
  Memory got(*undrawn);
  EXPECT_FALSE(got.read(*undrawn, {1, 0, 2}));
  std::vector<std::byte> picture(expected.tensors[0].size());
  for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
    ASSERT_TRUE(expected.read(*drawn, {1, epoch, 0}));
    ASSERT_TRUE(got.read(*undrawn, {1, epoch, 0}));
    draw_tiles(got.tiles(), kSide, reinterpret_cast<std::uint8_t*>(picture.data()));
    EXPECT_EQ(picture, expected.tensors[0]) << epoch;
  }
}

TEST(Tiles, AnEvaluationIsDrawnByTheDataSet) {
  const TemporaryFolder folder;
  write_pictures(folder, {{192, 144}});
  EXPECT_EQ(make(folder, "none", true)->layout()[0].name, "images");
  EXPECT_EQ(make(folder, "mosaic", true)->layout()[0].name, "pixels");
}

}  // namespace
}  // namespace falcon::data
