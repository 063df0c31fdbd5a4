// falcon_mosaic_bench coco|yolo FOLDER PART ROUNDS: CPU seconds of one thread for mosaic samples of
// 640 pixels, against decoding the same pictures whole. Files are read once before the clock
// starts, so they come from the page cache. Prints one JSON line; see docs/performance.md.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "data/detection_dataset.h"
#include "data/file_bytes.h"
#include "falconbench/clock.h"

namespace {

using falcon::data::JpegDecoder;

class NoRows : public falcon::data::RowSink {
 public:
  void row(int, const std::uint8_t*) override {}
};

// CPU seconds a picture for reading the file and decoding all of it.
double decode_all(const falcon::data::DetectionSet& set, int rounds) {
  JpegDecoder decoder;
  falcon::data::FileBytes file;
  NoRows rows;
  std::string problem;
  const std::int64_t count = static_cast<std::int64_t>(set.pictures.size());
  double start_s = falcon::thread_cpu_s();
  for (int round = -1; round < rounds; ++round) {
    if (round == 0) start_s = falcon::thread_cpu_s();
    for (std::int64_t i = 0; i < count; ++i) {
      const bool good = file.read(set.path(i), problem) && decoder.open(file.bytes()) &&
                        decoder.decode({0, 0, decoder.width(), decoder.height()}, rows,
                                       JpegDecoder::Extent::kWholeFile);
      if (!good) std::exit(1);
    }
  }
  return (falcon::thread_cpu_s() - start_s) / static_cast<double>(rounds * count);
}

// CPU seconds a sample, of one epoch.
double read_all(const falcon::data::DetectionDataset& set, std::int64_t epoch) {
  std::vector<std::vector<std::byte>> tensors;
  std::vector<std::byte*> destinations;
  for (const falcon::TensorLayout& tensor : set.layout()) {
    tensors.emplace_back(tensor.sample_bytes());
    destinations.push_back(tensors.back().data());
  }
  const auto scratch = set.make_scratch();
  falcon::ReadCost cost;
  falcon::SkippedItem skipped;
  const double start_s = falcon::thread_cpu_s();
  for (std::int64_t i = 0; i < set.size(); ++i) {
    if (!set.read({1, epoch, i}, destinations, *scratch, cost, skipped)) std::exit(1);
  }
  return (falcon::thread_cpu_s() - start_s) / static_cast<double>(set.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: falcon_mosaic_bench coco|yolo FOLDER PART ROUNDS\n");
    return 2;
  }
  falcon::data::DatasetOptions options;
  options.format = argv[1];
  options.path = argv[2];
  options.subfolder = argv[3];
  options.image_size = 640;
  options.classes = 0;
  const int rounds = std::max(1, std::atoi(argv[4]));
  const auto made = falcon::data::make_dataset(options);
  const auto& set = dynamic_cast<const falcon::data::DetectionDataset&>(*made);
  const double decode_s = decode_all(set.set(), rounds);
  const double first_s = read_all(set, 0);  // looks for damage to the end of every file
  double later_s = 0;
  for (int epoch = 1; epoch <= rounds; ++epoch) later_s += read_all(set, epoch) / rounds;
  std::printf(
      "{\"pictures\": %lld, \"decode_ms\": %.3f, \"first_epoch_ms\": %.3f, \"later_ms\": %.3f, "
      "\"of_a_quarter_decode_rate\": {\"first_epoch\": %.3f, \"later\": %.3f}}\n",
      static_cast<long long>(set.size()), decode_s * 1e3, first_s * 1e3, later_s * 1e3,
      4 * decode_s / first_s, 4 * decode_s / later_s);
  return 0;
}
