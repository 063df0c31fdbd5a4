// Decoding that begins at a known row: the pixels are those of a full decode.
#include "data/jpeg_rows.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/counter_random.h"
#include "data/jpeg_decoder.h"
#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

using test::Colours;
using test::JpegOptions;

class Collect : public RowSink {
 public:
  Collect(int width, int pixel_bytes) : width_(width), pixel_bytes_(pixel_bytes) {}
  void row(int y, const std::uint8_t* pixels) override {
    ys.push_back(y);
    for (int x = 0; x < width_; ++x, pixels += pixel_bytes_) {
      rgb.insert(rgb.end(), pixels, pixels + 3);
    }
  }
  int pixel_bytes() const override { return pixel_bytes_; }
  std::vector<int> ys;
  std::vector<std::uint8_t> rgb;

 private:
  int width_;
  int pixel_bytes_;
};

std::vector<JpegOptions> kinds_of_files() {
  std::vector<JpegOptions> kinds;
  for (const auto& [x, y] : {std::pair(1, 1), {2, 1}, {1, 2}, {2, 2}, {4, 1}}) {
    for (const int quality : {50, 98}) {
      for (const bool own_codes : {false, true}) {
        JpegOptions o;
        o.width = 173;
        o.height = 331;
        o.sampling_x = x;
        o.sampling_y = y;
        o.quality = quality;
        o.own_codes = own_codes;
        kinds.push_back(o);
        o.colours = Colours::kGray;
        kinds.push_back(o);
      }
    }
  }
  return kinds;
}

std::string name_of(const JpegOptions& o) {
  return "sampling " + std::to_string(o.sampling_x) + "x" + std::to_string(o.sampling_y) +
         " quality " + std::to_string(o.quality) + (o.own_codes ? " own codes" : "") +
         (o.colours == Colours::kGray ? " gray" : "");
}

TEST(JpegRows, WhatIsDecodedFromAKnownRowOnIsAsInAFullDecode) {
  base::CounterRandom random({7});
  JpegDecoder decoder;
  std::vector<std::uint8_t> head;
  int from_above = 0;  // files whose own codes do not suffice: blocks that are all full, say
  for (const JpegOptions& o : kinds_of_files()) {
    const std::vector<std::byte> file = test::make_jpeg(o);
    const JpegRows rows(file);
    ASSERT_TRUE(rows.knows_places()) << name_of(o);
    int resumed = 0;
    for (int i = 0; i < 24; ++i) {
      const auto below = [&random](int end) {
        return static_cast<int>(random.below(static_cast<std::uint64_t>(end)));
      };
      PixelRect r{below(o.width), below(o.height), 0, 0};
      r.width = 1 + below(o.width - r.left);
      r.height = 1 + below(o.height - r.top);
      Collect expected(r.width, 4);
      ASSERT_TRUE(decoder.open(file));
      ASSERT_TRUE(decoder.decode(r, expected, JpegDecoder::Extent::kUpToRectangle));
      Collect got(r.width, i % 2 == 0 ? 4 : 3);
      ASSERT_TRUE(decoder.open(file));
      ASSERT_TRUE(decoder.decode(r, got, JpegDecoder::Extent::kUpToRectangle, &rows))
          << name_of(o) << ": " << decoder.problem().detail;
      EXPECT_EQ(got.ys, expected.ys);
      EXPECT_EQ(got.rgb, expected.rgb) << name_of(o) << " from row " << r.top;
      if (rows.resume(file, r.top, head)) ++resumed;
    }
    if (!o.own_codes) {
      EXPECT_GT(resumed, 12) << name_of(o);
    }
    if (resumed == 0) ++from_above;
  }
  EXPECT_LE(from_above, 2);
}

TEST(JpegRows, BeginsJustAboveTheWantedRow) {
  JpegOptions o;
  o.height = 640;  // 40 rows of MCUs: every second one is known
  const std::vector<std::byte> file = test::make_jpeg(o);
  const JpegRows rows(file);
  std::vector<std::uint8_t> head;
  EXPECT_FALSE(rows.resume(file, 33, head));
  const auto resume = rows.resume(file, 500, head);
  ASSERT_TRUE(resume);
  EXPECT_EQ(resume->shift, 480 - 16);  // the row that is made up lies above
  EXPECT_LT(head.size() + file.size() - resume->next, file.size() / 3 + 1000);
}

TEST(JpegRows, OtherKindsOfFilesHaveNoKnownPlace) {
  JpegOptions progressive;
  progressive.progressive = true;
  EXPECT_FALSE(JpegRows(test::make_jpeg(progressive)).knows_places());
  JpegOptions restarts;
  restarts.restart_rows = 1;
  EXPECT_FALSE(JpegRows(test::make_jpeg(restarts)).knows_places());
  JpegOptions cmyk;
  cmyk.colours = Colours::kCmyk;
  EXPECT_FALSE(JpegRows(test::make_jpeg(cmyk)).knows_places());
  JpegOptions low;
  low.height = 16;  // one row of MCUs
  EXPECT_FALSE(JpegRows(test::make_jpeg(low)).knows_places());
  EXPECT_FALSE(JpegRows(test::png_bytes()).knows_places());
  EXPECT_FALSE(JpegRows(std::span<const std::byte>()).knows_places());
}

TEST(JpegRows, AFileThatHasChangedIsReadFromTheTop) {
  std::vector<std::byte> file = test::make_jpeg({});
  const JpegRows rows(file);
  std::vector<std::uint8_t> head;
  ASSERT_TRUE(rows.resume(file, 100, head));
  file.push_back(std::byte{0});
  EXPECT_FALSE(rows.resume(file, 100, head));
}

// Bytes that are no scan, tables that are none: nothing is read outside of them.
TEST(JpegRows, SurvivesRandomDamageAnywhere) {
  base::CounterRandom random({11});
  const std::vector<std::byte> good = test::make_jpeg({});
  std::vector<std::uint8_t> head;
  int known = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> file = good;
    for (int k = 0; k < 3; ++k) {
      // more often in the headers than in what follows
      const std::size_t end = k == 0 ? file.size() : std::min<std::size_t>(700, file.size());
      file[random.below(end)] = static_cast<std::byte>(random.below(256));
    }
    if (i % 5 == 0) file.resize(random.below(file.size()));
    const JpegRows rows(file);
    known += rows.knows_places() ? 1 : 0;
    rows.resume(file, 100, head);
  }
  EXPECT_GT(known, 100);
  EXPECT_LT(known, 2000);
}

}  // namespace
}  // namespace falcon::data
