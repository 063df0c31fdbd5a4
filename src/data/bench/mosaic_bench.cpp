// falcon_mosaic_bench coco|yolo FOLDER PART ROUNDS: CPU seconds of one thread for mosaic samples of
// 640 pixels, against decoding the same pictures whole: with everything on the CPU ("cpu"), and
// when the training device draws them ("device"). Files are read once before the clock starts, so
// they come from the page cache; the three take turns. Prints one JSON line; see
// docs/performance.md.
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
double decode_all(const falcon::data::DetectionSet& set) {
  JpegDecoder decoder;
  falcon::data::FileBytes file;
  NoRows rows;
  std::string problem;
  const std::int64_t count = static_cast<std::int64_t>(set.pictures.size());
  const double start_s = falcon::thread_cpu_s();
  for (std::int64_t i = 0; i < count; ++i) {
    const bool good = file.read(set.path(i), problem) && decoder.open(file.bytes()) &&
                      decoder.decode({0, 0, decoder.width(), decoder.height()}, rows,
                                     JpegDecoder::Extent::kWholeFile);
    if (!good) std::exit(1);
  }
  return (falcon::thread_cpu_s() - start_s) / static_cast<double>(count);
}

// One way of making samples.
class Way {
 public:
  Way(falcon::data::DatasetOptions options, bool draw_on_device) {
    options.draw_on_device = draw_on_device;
    set_ = falcon::data::make_dataset(options);
    for (const falcon::TensorLayout& tensor : set_->layout()) {
      tensors_.emplace_back(tensor.sample_bytes());
      destinations_.push_back(tensors_.back().data());
    }
    scratch_ = set_->make_scratch();
  }

  const falcon::data::DetectionSet& set() const {
    return dynamic_cast<const falcon::data::DetectionDataset&>(*set_).set();
  }

  // CPU seconds a sample, of one epoch.
  double read_all(std::int64_t epoch) {
    falcon::ReadCost cost;
    falcon::SkippedItem skipped;
    const double start_s = falcon::thread_cpu_s();
    for (std::int64_t i = 0; i < set_->size(); ++i) {
      if (!set_->read({1, epoch, i}, destinations_, *scratch_, cost, skipped)) std::exit(1);
    }
    return (falcon::thread_cpu_s() - start_s) / static_cast<double>(set_->size());
  }

 private:
  std::unique_ptr<falcon::Dataset> set_;
  std::unique_ptr<falcon::ReadScratch> scratch_;
  std::vector<std::vector<std::byte>> tensors_;
  std::vector<std::byte*> destinations_;
};

struct Seconds {
  double first_epoch = 0;
  double later = 0;  // the mean of the epochs behind it
};

void print(const char* name, const Seconds& seconds, double decode_s) {
  std::printf(
      ", \"%s\": {\"first_epoch_ms\": %.3f, \"later_ms\": %.3f, "
      "\"of_a_quarter_decode_rate\": {\"first_epoch\": %.3f, \"later\": %.3f}}",
      name, seconds.first_epoch * 1e3, seconds.later * 1e3, 4 * decode_s / seconds.first_epoch,
      4 * decode_s / seconds.later);
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
  Way on_cpu(options, false);
  Way on_device(options, true);
  decode_all(on_cpu.set());
  double decode_s = 0;
  Seconds cpu;
  Seconds device;
  cpu.first_epoch = on_cpu.read_all(0);  // looks for damage to the end of every file
  device.first_epoch = on_device.read_all(0);
  for (int epoch = 1; epoch <= rounds; ++epoch) {
    decode_s += decode_all(on_cpu.set()) / rounds;
    cpu.later += on_cpu.read_all(epoch) / rounds;
    device.later += on_device.read_all(epoch) / rounds;
  }
  std::printf("{\"pictures\": %zu, \"decode_ms\": %.3f", on_cpu.set().pictures.size(),
              decode_s * 1e3);
  print("cpu", cpu, decode_s);
  print("device", device, decode_s);
  std::printf("}\n");
  return 0;
}
