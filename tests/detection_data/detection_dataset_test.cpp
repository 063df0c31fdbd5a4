// Samples of the data sets coco and yolo: what is in them, and that nothing but seed, epoch and
// index decides it.
#include "data/detection_dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/jpeg_encoder.h"
#include "data/loader.h"
#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

using test::TemporaryFolder;

struct Rgb {
  int level[3];
};
// Classes by hue: red, green, blue.
constexpr Rgb kColours[] = {{{200, 30, 30}}, {{30, 200, 30}}, {{30, 30, 200}}};

struct Rectangle {
  int label;
  int left;
  int top;
  int width;
  int height;
};

// Gray pictures with one rectangle of each colour of `rectangles`, as a YOLO folder.
void write_picture(const std::filesystem::path& folder, const std::string& name, int width,
                   int height, const std::vector<Rectangle>& rectangles) {
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(3 * width * height), 128);
  std::filesystem::create_directories(folder / "labels/train");
  std::ofstream labels(folder / "labels/train" / (name + ".txt"));
  for (const Rectangle& r : rectangles) {
    for (int y = r.top; y < r.top + r.height; ++y) {
      for (int x = r.left; x < r.left + r.width; ++x) {
        for (int c = 0; c < 3; ++c) {
          rgb[static_cast<std::size_t>(3 * (y * width + x) + c)] =
              static_cast<std::uint8_t>(kColours[r.label].level[c]);
        }
      }
    }
    labels.precision(9);
    labels << r.label << ' ' << (r.left + r.width / 2.0) / width << ' '
           << (r.top + r.height / 2.0) / height << ' ' << static_cast<double>(r.width) / width
           << ' ' << static_cast<double>(r.height) / height << '\n';
  }
  test::write_bytes(folder / "images/train" / (name + ".jpg"), encode_jpeg(rgb, width, height, 95));
}

DatasetOptions options_of(const TemporaryFolder& folder, const std::string& augment,
                          std::int64_t size = 320) {
  DatasetOptions options;
  options.format = "yolo";
  options.path = folder.path();
  options.subfolder = "train";
  options.classes = 3;
  options.image_size = size;
  options.augment = augment;
  return options;
}

// Memory for one sample.
class Sample {
 public:
  explicit Sample(const Dataset& dataset) : dataset_(dataset), scratch_(dataset.make_scratch()) {
    for (const TensorLayout& tensor : dataset.layout()) {
      tensors_.emplace_back(tensor.sample_bytes(), std::byte{0x5A});
    }
  }
  bool read(const SampleKey& key) {
    std::vector<std::byte*> destinations;
    for (std::vector<std::byte>& tensor : tensors_) destinations.push_back(tensor.data());
    return dataset_.read(key, destinations, *scratch_, cost, skipped);
  }
  const std::uint8_t* pixel(int x, int y) const {
    const int size = static_cast<int>(dataset_.layout()[0].sample_shape[1]);
    return reinterpret_cast<const std::uint8_t*>(tensors_[0].data()) + 3 * (y * size + x);
  }
  std::vector<std::array<float, 5>> targets() const {
    std::vector<std::array<float, 5>> rows(tensors_[1].size() / sizeof(rows[0]));
    std::memcpy(rows.data(), tensors_[1].data(), tensors_[1].size());
    return rows;
  }
  const std::vector<std::vector<std::byte>>& tensors() const { return tensors_; }

  ReadCost cost;
  SkippedItem skipped;

 private:
  const Dataset& dataset_;
  std::unique_ptr<ReadScratch> scratch_;
  std::vector<std::vector<std::byte>> tensors_;
};

// Bounds of the pixels that have the hue of a class clearly.
BoxCorners bounds_of(const Sample& sample, int label, int size, int& count) {
  BoxCorners box{1e9, 1e9, -1, -1};
  count = 0;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const std::uint8_t* p = sample.pixel(x, y);
      const int own = p[label];
      const int others = std::max(p[(label + 1) % 3], p[(label + 2) % 3]);
      if (own - others < 25) continue;
      ++count;
      box = {std::min<double>(box.left, x), std::min<double>(box.top, y),
             std::max<double>(box.right, x + 1), std::max<double>(box.bottom, y + 1)};
    }
  }
  return box;
}

// A picture for each colour, of different sizes, so that a sample has every colour once at most.
void write_colour_pictures(const TemporaryFolder& folder, int width, int height) {
  write_picture(folder.path(), "a", width, height,
                {{0, width / 8, height / 8, width / 4, height / 5},
                 {1, width / 2, height / 2, width / 5, height / 3},
                 {2, width / 2 + 20, height / 8, width / 6, height / 6}});
}

// The drawn rectangle fills its target to within `blur`: JPEG keeps one colour for two pixels of
// the file, which become up to 1.5 times larger than the resize makes them.
void expect_boxes_fit(const Sample& sample, int size, double blur, int& seen) {
  for (const auto& row : sample.targets()) {
    if (row[0] < 0) continue;
    int count = 0;
    const BoxCorners drawn = bounds_of(sample, static_cast<int>(row[0]), size, count);
    ASSERT_GT(count, 0);
    EXPECT_NEAR(drawn.left, (row[1] - row[3] / 2) * size, blur);
    EXPECT_NEAR(drawn.right, (row[1] + row[3] / 2) * size, blur);
    EXPECT_NEAR(drawn.top, (row[2] - row[4] / 2) * size, blur);
    EXPECT_NEAR(drawn.bottom, (row[2] + row[4] / 2) * size, blur);
    ++seen;
  }
}

TEST(DetectionDataset, WarpedBoxesAreTheWarpedShapes) {
  for (const auto& [width, height] : {std::pair(400, 300), {300, 400}, {160, 120}}) {
    const TemporaryFolder folder;
    write_colour_pictures(folder, width, height);
    const auto dataset = make_dataset(options_of(folder, "single"));
    Sample sample(*dataset);
    int seen = 0;
    for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
      ASSERT_TRUE(sample.read({1, epoch, 0}));
      expect_boxes_fit(sample, 320, 1 + 2 * 1.5 * 320 / std::max(width, height), seen);
    }
    EXPECT_GT(seen, 12);
  }
}

// The same rectangle four times in a mosaic cannot be told apart by its colour, so every picture
// has a colour of its own; samples that draw one twice are left out.
TEST(DetectionDataset, MosaicBoxesAreTheShapesOfTheFourPictures) {
  const TemporaryFolder folder;
  write_picture(folder.path(), "a", 320, 240, {{0, 40, 30, 120, 90}});
  write_picture(folder.path(), "b", 240, 320, {{1, 60, 100, 100, 80}});
  write_picture(folder.path(), "c", 200, 200, {{2, 50, 20, 110, 130}});
  for (int i = 0; i < 12; ++i) {
    write_picture(folder.path(), "empty" + std::to_string(i), 100 + 20 * i, 200, {});
  }
  const auto dataset = make_dataset(options_of(folder, "mosaic"));
  Sample sample(*dataset);
  int seen = 0;
  int samples = 0;
  for (std::int64_t epoch = 0; epoch < 25; ++epoch) {
    for (std::int64_t index = 0; index < 3; ++index) {
      base::CounterRandom random(
          {1, 0x6D6F7361, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(index)});
      const MosaicDraw draw = draw_mosaic(index, dataset->size(), 320, random);
      std::set<std::int64_t> coloured;
      bool is_twice = false;
      for (const std::int64_t picture : draw.pictures) {
        if (picture < 3) is_twice |= !coloured.insert(picture).second;
      }
      ASSERT_TRUE(sample.read({1, epoch, index}));
      if (is_twice) continue;
      ++samples;
      expect_boxes_fit(sample, 320, 2 * 1.5 * 320 / 200, seen);
    }
  }
  EXPECT_GT(samples, 40);
  EXPECT_GT(seen, 25);
}

TEST(DetectionDataset, EvaluationLetterboxesAndKeepsEveryBox) {
  const TemporaryFolder folder;
  write_colour_pictures(folder, 400, 300);
  DatasetOptions options = options_of(folder, "mosaic");
  options.evaluation = true;
  const auto dataset = make_dataset(options);
  ASSERT_EQ(dataset->layout().size(), 4U);
  EXPECT_EQ(dataset->layout()[2].name, "crowd");
  EXPECT_EQ(dataset->layout()[3].name, "content");
  Sample sample(*dataset);
  ASSERT_TRUE(sample.read({1, 0, 0}));
  EXPECT_EQ(sample.pixel(0, 0)[0], kPaddingLevel);
  EXPECT_EQ(sample.pixel(319, 319)[2], kPaddingLevel);
  EXPECT_NEAR(sample.pixel(5, 160)[0], 128, 3);
  int seen = 0;
  expect_boxes_fit(sample, 320, 2, seen);
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(sample.tensors()[2][0], std::byte{0});
  std::array<float, 4> content{};  // 320 x 240 of 320 x 320 pixels
  std::memcpy(content.data(), sample.tensors()[3].data(), sizeof content);
  EXPECT_EQ(content, (std::array<float, 4>{0, 0.125F, 1, 0.875F}));
  // the same whatever the epoch
  const auto first = sample.tensors();
  ASSERT_TRUE(sample.read({2, 5, 0}));
  EXPECT_EQ(sample.tensors(), first);
}

TEST(DetectionDataset, PaddingRowsHaveClassMinusOneAndBackgroundsNoTarget) {
  const TemporaryFolder folder;
  write_picture(folder.path(), "a", 100, 80, {});
  const auto dataset = make_dataset(options_of(folder, "mosaic"));
  EXPECT_EQ(dataset->layout()[1].sample_shape, (std::vector<std::int64_t>{8, 5}));
  Sample sample(*dataset);
  ASSERT_TRUE(sample.read({1, 0, 0}));
  for (const auto& row : sample.targets()) {
    EXPECT_EQ(row, (std::array<float, 5>{-1, 0, 0, 0, 0}));
  }
}

void write_mixed_folder(const TemporaryFolder& folder) {
  for (int i = 0; i < 9; ++i) {
    write_colour_pictures(folder, 120 + 30 * i, 150);
    std::filesystem::rename(folder / "images/train/a.jpg",
                            folder / ("images/train/p" + std::to_string(i) + ".jpg"));
    std::filesystem::rename(folder / "labels/train/a.txt",
                            folder / ("labels/train/p" + std::to_string(i) + ".txt"));
  }
}

std::vector<std::vector<std::byte>> batches_of(const Dataset& dataset, int threads) {
  test::PlainAllocator memory;
  const BatchSchedule schedule({.samples = dataset.size(), .global_batch = 4, .seed = 3});
  LoaderOptions options;
  options.threads = threads;
  options.steps = 4;
  Loader loader(dataset, schedule, memory, options);
  std::vector<std::vector<std::byte>> batches;
  for (int step = 0; step < 4; ++step) {
    const LoadedBatch& batch = loader.next();
    batches.emplace_back(batch.memory.begin(), batch.memory.end());
    loader.release(batch);
  }
  return batches;
}

TEST(DetectionDataset, BatchesAreTheSameForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  write_mixed_folder(folder);
  const auto one = make_dataset(options_of(folder, "mosaic", 96));
  const auto four = make_dataset(options_of(folder, "mosaic", 96));
  const auto first = batches_of(*one, 1);
  EXPECT_EQ(first, batches_of(*four, 4));
  // and when the files are known to be whole, so that less of them is decoded
  EXPECT_EQ(first, batches_of(*one, 2));
}

TEST(DetectionDataset, ADamagedPictureIsSkippedWhenItsTurnComesAndReplacedInMosaics) {
  const TemporaryFolder folder;
  write_mixed_folder(folder);
  const auto path = folder / "images/train/p4.jpg";
  std::vector<std::byte> file = test::read_bytes(path);
  test::write_bytes(path, test::with_corrupt_scan(std::move(file), 40));
  const auto dataset = make_dataset(options_of(folder, "mosaic", 96));
  Sample sample(*dataset);
  EXPECT_FALSE(sample.read({1, 0, 4}));
  EXPECT_EQ(sample.skipped.item, "p4.jpg");
  EXPECT_EQ(sample.skipped.reason, "damaged");
  for (std::int64_t epoch = 0; epoch < 10; ++epoch) {
    for (const std::int64_t index : {0, 3, 8}) EXPECT_TRUE(sample.read({1, epoch, index}));
  }
}

TEST(DetectionDataset, BoxesBeyondTheFixedNumberAreCounted) {
  const TemporaryFolder folder;
  std::vector<Rectangle> many;
  for (int i = 0; i < 60; ++i) many.push_back({i % 3, 10 * (i % 10), 10 * (i / 10), 8, 8});
  write_picture(folder.path(), "many", 100, 100, many);
  for (int i = 0; i < 99; ++i) {
    write_picture(folder.path(), "none" + std::to_string(i), 32, 32, {});
  }
  DatasetOptions options = options_of(folder, "mosaic", 320);
  const auto dataset = make_dataset(options);
  // mean 0.6 and standard deviation 5.97 a picture: 4 * 0.6 + 6 * 2 * 5.97 = 74.0
  EXPECT_EQ(dataset->layout()[1].sample_shape[0], 80);
  Sample sample(*dataset);
  ASSERT_TRUE(sample.read({1, 0, 0}));
  EXPECT_EQ(dataset->facts().at("targets_dropped"), "0");
  options.evaluation = true;
  const auto evaluated = make_dataset(options);
  EXPECT_EQ(evaluated->layout()[1].sample_shape[0], 64);  // 60, to a multiple of 8
  Sample whole(*evaluated);
  ASSERT_TRUE(whole.read({1, 0, 0}));
  const auto targets = whole.targets();
  EXPECT_EQ(std::ranges::count_if(targets, [](const auto& row) { return row[0] >= 0; }), 60);
}

TEST(DetectionDataset, ReadCostCountsEveryFileOfAMosaic) {
  const TemporaryFolder folder;
  write_colour_pictures(folder, 200, 150);
  const auto dataset = make_dataset(options_of(folder, "mosaic", 96));
  Sample sample(*dataset);
  ASSERT_TRUE(sample.read({1, 0, 0}));
  EXPECT_EQ(
      sample.cost.file_bytes,
      4 * static_cast<std::int64_t>(std::filesystem::file_size(folder / "images/train/a.jpg")));
  EXPECT_GT(sample.cost.decode_s, 0);
}

}  // namespace
}  // namespace falcon::data
