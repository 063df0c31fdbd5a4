// falcon_decode_bench FILES CROPS whole|rectangle: CPU seconds to decode the given files with the
// given crops to 224 x 224 on one thread. FILES has one path a line, CROPS one "left top width
// height" a line. Prints one JSON line. Bytes are read before the clock starts. Used by
// scripts/bench/decode_vs_torchvision.sh.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "data/image_transform.h"
#include "falconbench/clock.h"

namespace {

constexpr int kImageSize = 224;

struct Item {
  std::vector<char> bytes;
  falcon::data::PixelRect crop;
};

std::vector<Item> load(const char* files_path, const char* crops_path) {
  std::ifstream files(files_path), crops(crops_path);
  std::vector<Item> items;
  std::string path;
  while (std::getline(files, path)) {
    Item item;
    std::ifstream file(path, std::ios::binary);
    item.bytes.assign(std::istreambuf_iterator<char>(file), {});
    crops >> item.crop.left >> item.crop.top >> item.crop.width >> item.crop.height;
    if (item.bytes.empty() || !crops) return {};
    items.push_back(std::move(item));
  }
  return items;
}

// CPU seconds, and a sum over the pixels so that two decoders can be compared.
double decode_all(const std::vector<Item>& items, falcon::data::JpegDecoder::Extent extent,
                  double& mean, int& failed) {
  falcon::data::ImageReader reader;
  std::vector<std::uint8_t> pixels(3 * kImageSize * kImageSize);
  double sum = 0;
  failed = 0;
  const double start_s = falcon::thread_cpu_s();
  for (const Item& item : items) {
    const bool good =
        reader.open(std::as_bytes(std::span(item.bytes))) &&
        reader.read(falcon::data::crop_and_resize(item.crop, kImageSize), extent, pixels.data());
    if (!good) ++failed;
    sum += pixels[pixels.size() / 2];
  }
  const double cpu_s = falcon::thread_cpu_s() - start_s;
  mean = sum / static_cast<double>(items.size());
  return cpu_s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: falcon_decode_bench FILES CROPS whole|rectangle\n");
    return 2;
  }
  using Extent = falcon::data::JpegDecoder::Extent;
  const Extent extent =
      std::string(argv[3]) == "whole" ? Extent::kWholeFile : Extent::kUpToRectangle;
  const std::vector<Item> items = load(argv[1], argv[2]);
  if (items.empty()) {
    std::fprintf(stderr, "falcon_decode_bench: cannot read %s and %s\n", argv[1], argv[2]);
    return 2;
  }
  double mean = 0;
  int failed = 0;
  const double cpu_s = decode_all(items, extent, mean, failed);
  std::printf("{\"files\": %zu, \"failed\": %d, \"cpu_s\": %.6f, \"mean_of_middle_byte\": %.4f}\n",
              items.size(), failed, cpu_s, mean);
  return failed == 0 ? 0 : 1;
}
