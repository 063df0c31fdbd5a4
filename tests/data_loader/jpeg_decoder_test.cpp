#include "data/jpeg_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data_loader/picture_files.h"

namespace falcon::data {
namespace {

using test::Colours;
using test::JpegOptions;
using testing::HasSubstr;

class Collect : public RowSink {
 public:
  explicit Collect(int width) : width_(width) {}
  void row(int y, const std::uint8_t* rgbx) override {
    ys.push_back(y);
    for (int x = 0; x < width_; ++x) pixels.insert(pixels.end(), rgbx + 4 * x, rgbx + 4 * x + 3);
  }
  std::vector<int> ys;
  std::vector<std::uint8_t> pixels;

 private:
  int width_;
};

struct Decoded {
  std::vector<std::uint8_t> pixels;
  int width = 0;
  int height = 0;
  DecodeProblem problem;
};

Decoded decode(const std::vector<std::byte>& file) {
  Decoded d;
  d.pixels = decode_rgb(file, d.width, d.height, d.problem);
  return d;
}

std::vector<std::uint8_t> cut_out(const Decoded& whole, const PixelRect& r) {
  std::vector<std::uint8_t> pixels;
  for (int y = r.top; y < r.top + r.height; ++y) {
    const auto row = whole.pixels.begin() + 3 * (y * whole.width + r.left);
    pixels.insert(pixels.end(), row, row + 3 * r.width);
  }
  return pixels;
}

std::vector<JpegOptions> kinds_of_files() {
  std::vector<JpegOptions> kinds;
  for (const auto& [x, y] : {std::pair(1, 1), {2, 1}, {1, 2}, {2, 2}, {4, 1}}) {
    for (const bool progressive : {false, true}) {
      JpegOptions o;
      o.width = 173;
      o.height = 131;
      o.sampling_x = x;
      o.sampling_y = y;
      o.progressive = progressive;
      o.restart_rows = x == 2 ? 1 : 0;
      kinds.push_back(o);
    }
  }
  JpegOptions gray;
  gray.colours = Colours::kGray;
  kinds.push_back(gray);
  JpegOptions cmyk;
  cmyk.colours = Colours::kCmyk;
  kinds.push_back(cmyk);
  return kinds;
}

TEST(JpegDecoder, ARectangleHasThePixelsOfAFullDecode) {
  JpegDecoder decoder;
  for (const JpegOptions& o : kinds_of_files()) {
    const std::vector<std::byte> file = test::make_jpeg(o);
    const Decoded whole = decode(file);
    ASSERT_EQ(whole.width, o.width);
    const int w = whole.width;
    const int h = whole.height;
    for (const PixelRect& r : {PixelRect{0, 0, w, h},
                               {0, 0, 1, 1},
                               {w - 1, h - 1, 1, 1},
                               {17, 33, 40, 50},
                               {31, 16, 64, 16},
                               {1, 1, w - 2, h - 2},
                               {w - 20, 0, 20, h},
                               {64, 47, 33, 1}}) {
      for (const auto extent :
           {JpegDecoder::Extent::kUpToRectangle, JpegDecoder::Extent::kWholeFile}) {
        ASSERT_TRUE(decoder.open(file));
        Collect rows(r.width);
        ASSERT_TRUE(decoder.decode(r, rows, extent)) << decoder.problem().detail;
        EXPECT_EQ(rows.pixels, cut_out(whole, r))
            << "sampling " << o.sampling_x << "x" << o.sampling_y << " progressive "
            << o.progressive << " at " << r.left << "," << r.top << " " << r.width << "x"
            << r.height;
        std::vector<int> expected_rows(static_cast<std::size_t>(r.height));
        std::iota(expected_rows.begin(), expected_rows.end(), r.top);
        EXPECT_EQ(rows.ys, expected_rows);
      }
    }
  }
}

TEST(JpegDecoder, GrayIsRepeatedInThreeChannels) {
  JpegOptions o;
  o.colours = Colours::kGray;
  const Decoded d = decode(test::make_jpeg(o));
  ASSERT_FALSE(d.pixels.empty());
  for (std::size_t i = 0; i < d.pixels.size(); i += 3) {
    ASSERT_EQ(d.pixels[i], d.pixels[i + 1]);
    ASSERT_EQ(d.pixels[i], d.pixels[i + 2]);
  }
}

double mean_of(const std::vector<std::uint8_t>& pixels, std::size_t channel) {
  double sum = 0;
  for (std::size_t i = channel; i < pixels.size(); i += 3) sum += pixels[i];
  return 3 * sum / static_cast<double>(pixels.size());
}

// The test's pictures store about 96 in every channel. With an Adobe marker that is 255 - ink, so
// the colour is 96 * 96 / 255 = 36; without one it is ink: 159 * 159 / 255 = 99.
TEST(JpegDecoder, CmykIsInvertedOnlyWithAnAdobeMarker) {
  JpegOptions o;
  for (const auto& [colours, low, high] : {std::tuple(Colours::kCmyk, 30, 60),
                                           {Colours::kYcck, 30, 60},
                                           {Colours::kCmykWithoutAdobe, 70, 100}}) {
    o.colours = colours;
    const Decoded d = decode(test::make_jpeg(o));
    ASSERT_FALSE(d.pixels.empty()) << d.problem.detail;
    for (std::size_t channel = 0; channel < 3; ++channel) {
      EXPECT_GT(mean_of(d.pixels, channel), low);
      EXPECT_LT(mean_of(d.pixels, channel), high);
    }
  }
}

TEST(JpegDecoder, CmykAndYcckOfOnePictureAgree) {
  JpegOptions o;
  o.quality = 100;
  o.sampling_x = o.sampling_y = 1;
  o.colours = Colours::kCmyk;
  const Decoded cmyk = decode(test::make_jpeg(o));
  o.colours = Colours::kYcck;
  const Decoded ycck = decode(test::make_jpeg(o));
  ASSERT_EQ(cmyk.pixels.size(), ycck.pixels.size());
  double off = 0;  // single levels differ more: two transforms of rounded values
  for (std::size_t i = 0; i < cmyk.pixels.size(); ++i) {
    off += std::abs(cmyk.pixels[i] - ycck.pixels[i]);
  }
  EXPECT_LT(off / static_cast<double>(cmyk.pixels.size()), 4);
}

TEST(JpegDecoder, ExifGarbageChangesNothing) {
  const std::vector<std::byte> plain = test::make_jpeg({});
  EXPECT_EQ(decode(test::with_garbage_exif(plain)).pixels, decode(plain).pixels);
}

TEST(JpegDecoder, SaysWhatIsWrong) {
  std::vector<std::byte> good = test::make_jpeg({});
  EXPECT_EQ(decode({}).problem.reason, "empty");
  EXPECT_EQ(decode(test::png_bytes()).problem.reason, "not_jpeg");
  EXPECT_THAT(decode(test::png_bytes()).problem.detail, HasSubstr("PNG"));
  EXPECT_EQ(decode(std::vector<std::byte>(100, std::byte{7})).problem.reason, "not_jpeg");
  const DecodeProblem huge = decode(test::huge_jpeg()).problem;
  EXPECT_EQ(huge.reason, "too_large");
  EXPECT_THAT(huge.detail, HasSubstr("65500x65500"));
  EXPECT_THAT(huge.detail, HasSubstr(std::to_string(JpegDecoder::kMaxPixels)));
  good.resize(3);
  EXPECT_EQ(decode(good).problem.reason, "damaged");
}

TEST(JpegDecoder, EveryCutIsNoticed) {
  for (const bool progressive : {false, true}) {
    JpegOptions o;
    o.progressive = progressive;
    const std::vector<std::byte> good = test::make_jpeg(o);
    for (std::size_t size = 4; size < good.size(); size += good.size() / 40) {
      const DecodeProblem problem =
          decode({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}).problem;
      EXPECT_EQ(problem.reason, "damaged") << size << " of " << good.size();
      EXPECT_FALSE(problem.detail.empty());
    }
  }
}

TEST(JpegDecoder, DamageBelowTheRectangleIsFoundInTheWholeFileOnly) {
  std::vector<std::byte> cut = test::make_jpeg({});
  cut.resize(cut.size() * 3 / 4);
  JpegDecoder decoder;
  Collect rows(20);
  ASSERT_TRUE(decoder.open(cut));
  EXPECT_TRUE(decoder.decode({0, 0, 20, 20}, rows, JpegDecoder::Extent::kUpToRectangle));
  ASSERT_TRUE(decoder.open(cut));
  EXPECT_FALSE(decoder.decode({0, 0, 20, 20}, rows, JpegDecoder::Extent::kWholeFile));
  EXPECT_EQ(decoder.problem().reason, "damaged");
  EXPECT_THAT(decoder.problem().detail, HasSubstr("of " + std::to_string(cut.size())));
}

TEST(JpegDecoder, CorruptScansAreNoticedAndTheDecoderLivesOn) {
  const std::vector<std::byte> good = test::make_jpeg({});
  const Decoded expected = decode(good);
  JpegDecoder decoder;
  for (const std::size_t count : {100u, 400u}) {
    const std::vector<std::byte> bad = test::with_corrupt_scan(good, count);
    Collect rows(160);
    ASSERT_TRUE(decoder.open(bad));
    EXPECT_FALSE(decoder.decode({0, 0, 160, 120}, rows, JpegDecoder::Extent::kWholeFile));
    EXPECT_EQ(decoder.problem().reason, "damaged");
    Collect again(160);
    ASSERT_TRUE(decoder.open(good));
    ASSERT_TRUE(decoder.decode({0, 0, 160, 120}, again, JpegDecoder::Extent::kWholeFile));
    EXPECT_EQ(again.pixels, expected.pixels);
  }
}

// Any bytes at all: no crash, no hang, and memory stays within the sanitizers' eyes.
TEST(JpegDecoder, SurvivesRandomDamageAnywhere) {
  for (const bool progressive : {false, true}) {
    JpegOptions o;
    o.width = 64;
    o.height = 48;
    o.progressive = progressive;
    const std::vector<std::byte> good = test::make_jpeg(o);
    std::uint64_t state = 5;
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<std::byte> bad = good;
      for (int k = 0; k < 4; ++k) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        bad[2 + (state >> 33) % (bad.size() - 2)] = static_cast<std::byte>(state >> 20);
      }
      const Decoded d = decode(bad);
      if (d.pixels.empty()) {
        EXPECT_FALSE(d.problem.reason.empty());
      }
    }
  }
}

}  // namespace
}  // namespace falcon::data
