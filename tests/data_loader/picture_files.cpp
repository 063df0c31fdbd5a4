#include "data_loader/picture_files.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <system_error>

#include <jpeglib.h>
#include <stdlib.h>

#include "base/counter_random.h"

namespace falcon::test {
namespace fs = std::filesystem;
namespace {

int components(Colours colours) {
  if (colours == Colours::kGray) return 1;
  return colours == Colours::kRgb ? 3 : 4;
}

std::uint8_t level(const JpegOptions& o, int x, int y, int channel, unsigned grain) {
  const double wave = std::sin(0.03 * (channel + 1) * x + o.seed) + std::cos(0.05 * y + channel);
  return static_cast<std::uint8_t>(96 + 30 * wave + grain % 24);
}

std::vector<std::uint8_t> row_of(const JpegOptions& o, int y) {
  base::CounterRandom random({o.seed, static_cast<std::uint64_t>(y)});
  std::vector<std::uint8_t> row;
  for (int x = 0; x < o.width; ++x) {
    const unsigned grain = static_cast<unsigned>(random.next() & 0xFF);
    for (int c = 0; c < components(o.colours); ++c) row.push_back(level(o, x, y, c, grain));
  }
  return row;
}

void set_colours(jpeg_compress_struct& cinfo, const JpegOptions& o) {
  cinfo.input_components = components(o.colours);
  cinfo.in_color_space = o.colours == Colours::kGray  ? JCS_GRAYSCALE
                         : o.colours == Colours::kRgb ? JCS_RGB
                                                      : JCS_CMYK;
  jpeg_set_defaults(&cinfo);
  if (o.colours == Colours::kYcck) jpeg_set_colorspace(&cinfo, JCS_YCCK);
  if (o.colours == Colours::kCmykWithoutAdobe) cinfo.write_Adobe_marker = FALSE;
  if (o.colours == Colours::kRgb || o.colours == Colours::kYcck) {
    cinfo.comp_info[0].h_samp_factor = o.sampling_x;
    cinfo.comp_info[0].v_samp_factor = o.sampling_y;
  }
  jpeg_set_quality(&cinfo, o.quality, TRUE);
  cinfo.optimize_coding = o.own_codes ? TRUE : FALSE;
  cinfo.restart_in_rows = o.restart_rows;
  if (o.progressive) jpeg_simple_progression(&cinfo);
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int v : values) bytes.push_back(static_cast<std::byte>(v));
  return bytes;
}

}  // namespace

std::vector<std::byte> make_jpeg(const JpegOptions& o) {
  jpeg_error_mgr errors;
  jpeg_compress_struct cinfo;
  cinfo.err = jpeg_std_error(&errors);  // an error ends the test program: the pictures are our own
  jpeg_create_compress(&cinfo);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&cinfo, &out, &size);
  cinfo.image_width = static_cast<JDIMENSION>(o.width);
  cinfo.image_height = static_cast<JDIMENSION>(o.height);
  set_colours(cinfo, o);
  jpeg_start_compress(&cinfo, TRUE);
  for (int y = 0; y < o.height; ++y) {
    std::vector<std::uint8_t> row = row_of(o, y);
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&cinfo, &pointer, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  const auto* begin = reinterpret_cast<std::byte*>(out);
  std::vector<std::byte> bytes(begin, begin + size);
  std::free(out);
  return bytes;
}

std::vector<std::byte> png_bytes() {
  std::vector<std::byte> bytes =
      bytes_of({0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0, 0, 0, 13, 'I',
                'H',  'D', 'R', 0,   0,    0,    8,    0,    0, 0, 8, 8,  2});
  bytes.resize(200);
  return bytes;
}

std::vector<std::byte> huge_jpeg() {
  std::vector<std::byte> bytes = make_jpeg({});
  for (std::size_t i = 2; i + 9 < bytes.size(); ++i) {
    if (bytes[i] == std::byte{0xFF} && bytes[i + 1] == std::byte{0xC0}) {
      for (std::size_t k = 0; k < 4; k += 2) {  // 65500 = 0xffdc
        bytes[i + 5 + k] = std::byte{0xFF};
        bytes[i + 6 + k] = std::byte{0xDC};
      }
      return bytes;
    }
  }
  throw std::logic_error("no frame header");
}

std::vector<std::byte> with_garbage_exif(const std::vector<std::byte>& jpeg) {
  std::vector<std::byte> exif =
      bytes_of({0xFF, 0xE1, 0,    26,   'E', 'x', 'i', 'f', 0, 0, 'I', 'I', '*', 0,
                0xF0, 0xFF, 0xFF, 0x7F, 9,   9,   9,   9,   9, 9, 9,   9,   9,   9});
  std::vector<std::byte> bytes = jpeg;
  bytes.insert(bytes.begin() + 2, exif.begin(), exif.end());
  return bytes;
}

std::vector<std::byte> with_corrupt_scan(std::vector<std::byte> jpeg, std::size_t count) {
  base::CounterRandom random({99});
  const std::size_t begin = jpeg.size() / 2;
  for (std::size_t i = begin; i < begin + count; ++i) {
    jpeg[i] = static_cast<std::byte>(random.below(255));
  }
  return jpeg;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "falconbench-test-XXXXXX").native();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_bytes(const fs::path& path, const std::vector<std::byte>& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::byte> read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> text(std::istreambuf_iterator<char>(file), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_picture_folder(const fs::path& folder, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string name =
        std::string("class_") + "abc"[i % 3] + "/" + std::to_string(i) + ".jpg";
    JpegOptions options;
    options.width = 60 + 13 * (i % 5);
    options.height = 50 + 7 * (i % 7);
    options.seed = static_cast<unsigned>(i);
    write_bytes(folder / name, make_jpeg(options));
  }
}

std::optional<fs::path> outside_data(const std::string& below) {
  const char* named = std::getenv("FALCONBENCH_DATA_DIR");
  const fs::path root = named != nullptr ? fs::path(named) : fs::path("../shared/data");
  std::error_code error;
  if (!fs::exists(root / below, error)) return std::nullopt;
  return root / below;
}

std::byte* PlainAllocator::allocate(std::size_t bytes) {
  ++live_;
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{256}));
}

void PlainAllocator::release(std::byte* memory) noexcept {
  --live_;
  ::operator delete (memory, std::align_val_t{256});
}

bool NumberSet::read(const SampleKey& key, std::span<std::byte* const> destinations, ReadScratch&,
                     ReadCost& cost, SkippedItem& skipped) const {
  before_read(key.index);
  if (unusable(key.index)) {
    skipped = {"item " + std::to_string(key.index), "damaged", "made so"};
    return false;
  }
  const std::int64_t value = key.index + 1000 * key.epoch;
  std::memcpy(destinations[0], &value, sizeof value);
  std::memset(destinations[1], static_cast<int>(key.index % 251), 3);
  cost.file_bytes += 11;
  return true;
}

}  // namespace falcon::test
