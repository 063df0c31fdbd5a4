// Letterbox geometry, boxes and pixels against letterbox.json and images.json.
#include "data/letterbox.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>

#include "data/bilinear.h"
#include "data_loader/picture_files.h"
#include "support/reference_set.h"

namespace falcon::data {
namespace {

using test::Json;

const Json& letterbox_file() {
  static const test::ReferenceFile file = [] {
    auto found = test::read_reference("letterbox.json");
    if (!found) found = test::read_reference("letterbox.json", test::shipped_reference_dir());
    return found.value();
  }();
  return file.json;
}

TEST(LetterboxGolden, GeometryIsTheReferences) {
  const test::Table table(letterbox_file(), "letterbox");
  for (const Json& row : table.rows()) {
    const auto number = [&](const char* column) { return table.at(row, column).get<double>(); };
    const Json& wanted = table.at(row, "new_hw");
    const Letterbox box =
        letterbox({table.at(row, "w"), table.at(row, "h")}, {wanted[1], wanted[0]},
                  {.minimal = table.at(row, "auto"), .enlarges = table.at(row, "scaleup")});
    EXPECT_EQ(box.ratio, number("ratio")) << row;
    EXPECT_EQ(box.pad_x, number("dw")) << row;
    EXPECT_EQ(box.pad_y, number("dh")) << row;
    EXPECT_EQ(box.inner, (PictureSize{table.at(row, "inner_w"), table.at(row, "inner_h")})) << row;
    EXPECT_EQ(box.left, table.at(row, "left")) << row;
    EXPECT_EQ(box.top, table.at(row, "top")) << row;
    EXPECT_EQ(box.outer, (PictureSize{table.at(row, "out_w"), table.at(row, "out_h")})) << row;
    EXPECT_EQ(box.outer.width - box.inner.width - box.left, table.at(row, "right")) << row;
    EXPECT_EQ(box.outer.height - box.inner.height - box.top, table.at(row, "bottom")) << row;
  }
  std::cout << "golden letterbox.json geometry rows=" << table.rows().size() << "\n";
  EXPECT_GT(table.rows().size(), 10U);
}

void expect_boxes(const Json& row, const Json& boxes, const SquareFit& fit, int size) {
  const Json& pixels = row.at("labels_xyxy_px");
  const Json& shares = row.at("labels_out_xywhn");
  ASSERT_EQ(boxes.size(), pixels.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const BoxShares given{boxes[i][0], boxes[i][1], boxes[i][2], boxes[i][3]};
    const BoxCorners box = corners_of(given, fit.resized, fit.box.pad_x, fit.box.pad_y);
    const double corners[4] = {box.left, box.top, box.right, box.bottom};
    const BoxShares out = shares_of(box, {size, size});
    const double parts[4] = {out.x, out.y, out.width, out.height};
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(corners[c], pixels[i][c].get<double>(), 1e-4) << row;
      EXPECT_NEAR(parts[c], shares[i][c].get<double>(), 1e-6) << row;
    }
  }
}

TEST(LetterboxGolden, TrainingPathResizesPadsAndMovesBoxesAsTheReference) {
  std::size_t rows = 0;
  for (const Json& row : letterbox_file().at("train_path")) {
    const int size = row.at("img_size");
    const SquareFit fit = fit_square({row.at("h0w0")[1], row.at("h0w0")[0]}, size);
    ++rows;
    if (row.contains("error")) {
      EXPECT_EQ(std::min(fit.resized.width, fit.resized.height), 0) << row;
      continue;
    }
    EXPECT_EQ(fit.resized, (PictureSize{row.at("resized_hw")[1], row.at("resized_hw")[0]})) << row;
    EXPECT_EQ(fit.box.ratio, row.at("ratio")) << row;
    EXPECT_EQ(fit.box.pad_x, row.at("pad_wh")[0]) << row;
    EXPECT_EQ(fit.box.pad_y, row.at("pad_wh")[1]) << row;
    EXPECT_EQ(fit.box.outer, (PictureSize{size, size})) << row;
    const Json& labels = row.at("labels_in");
    expect_boxes(
        row,
        labels.is_string() ? letterbox_file().at("labels_in_" + labels.get<std::string>()) : labels,
        fit, size);
  }
  std::cout << "golden letterbox.json train_path rows=" << rows << "\n";
  EXPECT_GT(rows, 5U);
}

Json images_file() {
  const char* named = std::getenv("FALCONBENCH_REFERENCE_DATA_DIR");
  const std::filesystem::path folder = named != nullptr ? named : "tests/data/reference_data";
  std::ifstream file(folder / "images.json");
  EXPECT_TRUE(file) << "no images.json in " << folder;
  return Json::parse(file);
}

constexpr int kSide = 640;

void expect_size(const Json& row, const Letterbox& box) {
  EXPECT_NEAR(box.ratio, row.at("ratio").get<double>(), 1e-6) << row;
  EXPECT_EQ(box.inner, (PictureSize{row.at("new_size")[0], row.at("new_size")[1]})) << row;
  EXPECT_EQ(box.pad_x, row.at("pad")[0]) << row;
  EXPECT_EQ(box.pad_y, row.at("pad")[1]) << row;
  EXPECT_EQ(box.left, row.at("border_left_right_top_bottom")[0]) << row;
  EXPECT_EQ(box.top, row.at("border_left_right_top_bottom")[2]) << row;
}

TEST(LetterboxGolden, SizesAreThoseOfImagesJson) {
  const Json images = images_file();
  for (const Json& row : images.at("letterbox_sizes")) {
    const PictureSize picture{row.at("width"), row.at("height")};
    expect_size(row, letterbox(picture, {kSide, kSide}));
    if (row.contains("no_scaleup")) {
      expect_size(row.at("no_scaleup"), letterbox(picture, {kSide, kSide}, {.enlarges = false}));
    }
  }
}

// The picture in one linear resize, as images.json has it.
std::vector<std::uint8_t> letterboxed(const std::vector<std::byte>& file, const Letterbox& box) {
  std::vector<std::uint8_t> rgb(3 * kSide * kSide, kPaddingLevel);
  BilinearReader reader;
  EXPECT_TRUE(reader.open(file));
  LinearAxis columns;
  LinearAxis lines;
  const auto scale = [](int in, int out) { return static_cast<double>(in) / out; };
  columns.assign({scale(reader.width(), box.inner.width), 0, reader.width(), box.inner.width});
  lines.assign({scale(reader.height(), box.inner.height), 0, reader.height(), box.inner.height});
  std::uint8_t* first = rgb.data() + 3 * (box.top * kSide + box.left);
  EXPECT_TRUE(reader.read(columns, lines, JpegDecoder::Extent::kWholeFile, first, 3 * kSide));
  return rgb;
}

TEST(LetterboxGolden, PixelsAreWithinOneLevelOfOpenCv) {
  const auto pictures = test::outside_data("coco-mini");
  if (!pictures) GTEST_SKIP() << "the pictures (coco-mini) are not here: FALCONBENCH_DATA_DIR";
  double worst = 0;
  int rows = 0;
  const Json json = images_file();
  for (const Json& row : json.at("letterbox_images")) {
    const Letterbox box = letterbox({row.at("width"), row.at("height")}, {kSide, kSide});
    expect_size(row, box);
    const auto path = pictures->parent_path() / row.at("path").get<std::string>();
    const std::vector<std::uint8_t> rgb = letterboxed(test::read_bytes(path), box);
    double sums[3] = {};
    for (std::size_t i = 0; i < rgb.size(); ++i) sums[i % 3] += rgb[i];
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(sums[c] / (kSide * kSide), row.at("letterboxed_mean_rgb")[c].get<double>(), 0.05);
    }
    for (const Json& pixel : row.at("pixels")) {
      const std::size_t at =
          3 * (pixel.at("y").get<std::size_t>() * kSide + pixel.at("x").get<std::size_t>());
      for (std::size_t c = 0; c < 3; ++c) {
        const double off = std::abs(rgb[at + c] - pixel.at("rgb")[c].get<double>());
        EXPECT_LE(off, 1) << path << " " << pixel;
        worst = std::max(worst, off);
      }
    }
    ++rows;
  }
  std::cout << "golden images.json letterbox rows=" << rows << " worst=" << worst << "\n";
  EXPECT_GT(rows, 0);
}

}  // namespace
}  // namespace falcon::data
