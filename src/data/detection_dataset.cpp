#include "data/detection_dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "data/coco_set.h"
#include "data/detection_layout.h"
#include "data/file_bytes.h"
#include "data/image_transform.h"
#include "data/tiles.h"
#include "data/yolo_set.h"
#include "falconbench/clock.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

enum Stream : std::uint64_t {
  kMosaicStream = 0x6D6F7361,  // "mosa"
  kAugmentStream = 0x61756700  // "aug"
};
constexpr std::size_t kTargetColumns = 5;
constexpr int kReplacements = 8;  // tried for a damaged picture of a mosaic

class DetectionScratch : public ReadScratch {
 public:
  FileBytes file;
  BilinearReader bilinear;
  ImageReader reducing;
  LinearAxis columns;
  LinearAxis lines;
  PixelAxes area;
};

base::CounterRandom random_of(const SampleKey& key, Stream stream) {
  return base::CounterRandom({key.seed, stream, static_cast<std::uint64_t>(key.epoch),
                              static_cast<std::uint64_t>(key.index)});
}

BoxShares shares(const LabelledBox& box) {
  return {box.x, box.y, box.width, box.height};
}

}  // namespace

class DetectionDataset::Sample {
 public:
  Sample(const DetectionDataset& dataset, const SampleKey& key,
         std::span<std::byte* const> destinations, DetectionScratch& scratch, ReadCost& cost)
      : dataset_(dataset),
        key_(key),
        destinations_(destinations),
        scratch_(scratch),
        cost_(cost),
        size_(dataset.image_size_),
        bytes_(reinterpret_cast<std::uint8_t*>(destinations[0])) {}

  bool read() {
    start_s_ = steady_now_s();
    io_before_s_ = cost_.io_s;
    const bool good = fill();
    cost_.decode_s += steady_now_s() - start_s_ - (cost_.io_s - io_before_s_);
    if (good) pad_targets();
    return good;
  }
  SkippedItem take_problem() { return std::move(problem_); }

 private:
  bool fill() {
    if (dataset_.augment_ == Augment::kNone) return fill_letterbox();
    base::CounterRandom random = random_of(key_, kAugmentStream);
    const AugmentDraw draw = draw_augment({}, random);
    if (dataset_.draw_on_device_) {
      tiles_.emplace(tile_tensors(), size_, draw.gains);
      return fill_augmented(draw);
    }
    const std::size_t pixels = static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
    std::memset(bytes_, kPaddingLevel, 3 * pixels);
    const bool good = fill_augmented(draw);
    if (good) apply_hsv(draw.gains, bytes_, pixels);
    return good;
  }

  TileTensors tile_tensors() const {
    return {bytes_, reinterpret_cast<TileRecord*>(destinations_[2]),
            reinterpret_cast<std::int32_t*>(destinations_[3]),
            reinterpret_cast<HsvGains*>(destinations_[4])};
  }

  bool fill_augmented(const AugmentDraw& draw) {
    return dataset_.augment_ == Augment::kMosaic ? fill_mosaic(draw) : fill_single(draw);
  }

  bool fill_mosaic(const AugmentDraw& augment) {
    base::CounterRandom random = random_of(key_, kMosaicStream);
    const MosaicDraw draw = draw_mosaic(key_.index, dataset_.size(), size_, random);
    const Placement placement(augment, 2 * size_, size_);
    for (int place = 0; place < 4; ++place) {
      const auto tile = [&](const PictureSize& picture) {
        return mosaic_tile(draw, place, resized_for(picture, size_), size_);
      };
      if (!draw_usable(draw.pictures[static_cast<std::size_t>(place)], placement, tile)) {
        return false;
      }
    }
    return true;
  }

  bool fill_single(const AugmentDraw& augment) {
    const Placement placement(augment, size_, size_);
    return draw_picture(key_.index, placement, [this](const PictureSize& picture) {
      return single_tile(fit_square(picture, size_));
    });
  }

  // False only when the sample's own picture is damaged.
  template <class MakeTile>
  bool draw_usable(std::int64_t picture, const Placement& placement, const MakeTile& tile) {
    for (int i = 0; i < kReplacements; ++i, picture = (picture + 1) % dataset_.size()) {
      if (draw_picture(picture, placement, tile)) return true;
      if (picture == key_.index) return false;
    }
    return draw_picture(key_.index, placement, tile);
  }

  template <class MakeTile>
  bool draw_picture(std::int64_t picture, const Placement& placement, const MakeTile& make_tile) {
    PictureSize original;
    if (!open(picture, scratch_.bilinear, original)) return false;
    if (!fits(picture, resized_for(original, size_))) return false;
    const Tile tile = make_tile(original);
    if (!draw_tile(picture, placement.window(tile, original))) return false;
    const double canvas = dataset_.augment_ == Augment::kMosaic ? 2.0 * size_ : size_;
    for (const LabelledBox& box : dataset_.set_.boxes_of(picture)) {
      const BoxCorners before =
          cut(corners_of(shares(box), tile.size, tile.x, tile.y), canvas, canvas);
      const BoxCorners after = placement.box(before);
      if (is_target(before, after, placement.zoom())) add_target(box, after);
    }
    return true;
  }

  bool draw_tile(std::int64_t picture, const std::optional<Placement::Window>& window) {
    BilinearReader& reader = scratch_.bilinear;
    const JpegDecoder::Extent extent = extent_for(picture);
    bool good = true;
    if (window) {
      good = tiles_ ? tiles_->add(reader, *window, extent, rows_of(picture))
                    : draw_window(*window, extent, rows_of(picture));
    } else if (extent == JpegDecoder::Extent::kWholeFile) {
      good = reader.check();
    }
    return note_decoded(picture, good, reader.problem());
  }

  bool draw_window(const Placement::Window& window, JpegDecoder::Extent extent,
                   const JpegRows* rows) {
    scratch_.columns.assign(window.columns);
    scratch_.lines.assign(window.lines);
    std::uint8_t* corner = bytes_ + static_cast<std::size_t>(window.top) * row_bytes() +
                           3 * static_cast<std::size_t>(window.left);
    if (scratch_.bilinear.read(scratch_.columns, scratch_.lines, extent, corner, row_bytes(), rows))
      return true;
    clear(corner, window.columns.out_count, window.lines.out_count);
    return false;
  }

  // Rows that came before the damage was found.
  void clear(std::uint8_t* corner, int columns, int lines) const {
    for (int line = 0; line < lines; ++line, corner += row_bytes()) {
      std::memset(corner, kPaddingLevel, 3 * static_cast<std::size_t>(columns));
    }
  }

  bool fill_letterbox() {
    PictureSize original;
    if (!open(key_.index, scratch_.bilinear, original)) return false;
    const SquareFit fit = fit_square(original, size_);
    if (!fits(key_.index, fit.resized)) return false;
    const std::size_t all = static_cast<std::size_t>(size_) * row_bytes();
    std::memset(bytes_, kPaddingLevel, all);
    if (!(fit.ratio < 1 ? reduce(fit, original) : enlarge(fit, original))) return false;
    for (const LabelledBox& box : dataset_.set_.boxes_of(key_.index)) {
      add_target(box, corners_of(shares(box), fit.resized, fit.box.pad_x, fit.box.pad_y));
    }
    if (dataset_.evaluation_) write_content(fit);
    return true;
  }

  void write_content(const SquareFit& fit) {
    const BoxCorners c = corners_of({0.5, 0.5, 1, 1}, fit.resized, fit.box.pad_x, fit.box.pad_y);
    const float content[] = {static_cast<float>(c.left / size_), static_cast<float>(c.top / size_),
                             static_cast<float>(c.right / size_),
                             static_cast<float>(c.bottom / size_)};
    std::memcpy(destinations_[3], content, sizeof content);
  }

  std::uint8_t* corner_of(const SquareFit& fit) {
    return bytes_ + static_cast<std::size_t>(fit.box.top) * row_bytes() +
           3 * static_cast<std::size_t>(fit.box.left);
  }

  bool enlarge(const SquareFit& fit, const PictureSize& original) {
    const auto map = [](int in, int out) {
      return LinearMap{static_cast<double>(in) / out, 0, in, out};
    };
    scratch_.columns.assign(map(original.width, fit.resized.width));
    scratch_.lines.assign(map(original.height, fit.resized.height));
    const bool good = scratch_.bilinear.read(scratch_.columns, scratch_.lines,
                                             extent_for(key_.index), corner_of(fit), row_bytes());
    return note_decoded(key_.index, good, scratch_.bilinear.problem());
  }

  bool reduce(const SquareFit& fit, const PictureSize& original) {
    const auto map = [](int in, int out) { return AxisMap{0, in, out, 0, out}; };
    scratch_.area.columns.assign_area(map(original.width, fit.resized.width));
    scratch_.area.lines.assign_area(map(original.height, fit.resized.height));
    ImageReader& reader = scratch_.reducing;
    const bool good =
        reader.open(scratch_.file.bytes()) &&
        reader.read(scratch_.area, extent_for(key_.index), corner_of(fit), row_bytes());
    return note_decoded(key_.index, good, reader.problem());
  }

  bool open(std::int64_t picture, BilinearReader& reader, PictureSize& size) {
    const double start_s = steady_now_s();
    std::string problem;
    const bool have_bytes =
        scratch_.file.read(dataset_.set_.path(picture), problem, dataset_.access_);
    cost_.io_s += steady_now_s() - start_s;
    cost_.file_bytes += static_cast<std::int64_t>(scratch_.file.bytes().size());
    if (!have_bytes) return fail(picture, "unreadable", problem);
    if (!reader.open(scratch_.file.bytes())) {
      return fail(picture, reader.problem().reason, reader.problem().detail);
    }
    size = {reader.width(), reader.height()};
    return true;
  }

  bool fits(std::int64_t picture, const PictureSize& resized) {
    if (resized.width > 0 && resized.height > 0) return true;
    return fail(
        picture, "too_narrow",
        "its shorter side is less than a pixel when the longer one has " + std::to_string(size_));
  }

  JpegDecoder::Extent extent_for(std::int64_t picture) const {
    return file_of(picture).state.load(std::memory_order_relaxed) == WholeFile::kUnknown
               ? JpegDecoder::Extent::kWholeFile
               : JpegDecoder::Extent::kUpToRectangle;
  }
  const JpegRows* rows_of(std::int64_t picture) const {
    const WholeFile& file = file_of(picture);
    return file.state.load(std::memory_order_acquire) == WholeFile::kHasRows ? &file.rows : nullptr;
  }
  // scratch_.file still holds the picture's bytes.
  bool note_decoded(std::int64_t picture, bool good, const DecodeProblem& problem) {
    if (!good) return fail(picture, problem.reason, problem.detail);
    WholeFile& file = file_of(picture);
    WholeFile::State expected = WholeFile::kUnknown;
    const bool is_first = file.state.load(std::memory_order_relaxed) == expected &&
                          file.state.compare_exchange_strong(expected, WholeFile::kIsWhole);
    if (is_first && dataset_.augment_ != Augment::kNone) {
      file.rows = JpegRows(scratch_.file.bytes());
      file.state.store(WholeFile::kHasRows, std::memory_order_release);
    }
    return true;
  }
  WholeFile& file_of(std::int64_t picture) const {
    return dataset_.files_[static_cast<std::size_t>(picture)];
  }
  bool fail(std::int64_t picture, std::string reason, std::string detail) {
    problem_ = {dataset_.set_.pictures[static_cast<std::size_t>(picture)].name, std::move(reason),
                std::move(detail)};
    return false;
  }

  void add_target(const LabelledBox& box, const BoxCorners& corners) {
    if (count_ == dataset_.most_targets_) {
      dataset_.targets_dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    const BoxShares out = shares_of(corners, {size_, size_});
    const float row[kTargetColumns] = {static_cast<float>(box.label), static_cast<float>(out.x),
                                       static_cast<float>(out.y), static_cast<float>(out.width),
                                       static_cast<float>(out.height)};
    std::memcpy(destinations_[1] + static_cast<std::size_t>(count_) * sizeof row, row, sizeof row);
    if (dataset_.evaluation_) {
      destinations_[2][count_] = static_cast<std::byte>(box.is_crowd ? 1 : 0);
    }
    ++count_;
  }

  void pad_targets() {
    for (; count_ < dataset_.most_targets_; ++count_) {
      const float row[kTargetColumns] = {-1, 0, 0, 0, 0};
      std::memcpy(destinations_[1] + static_cast<std::size_t>(count_) * sizeof row, row,
                  sizeof row);
      if (dataset_.evaluation_) destinations_[2][count_] = std::byte{0};
    }
  }

  std::size_t row_bytes() const { return 3 * static_cast<std::size_t>(size_); }

  const DetectionDataset& dataset_;
  const SampleKey& key_;
  std::span<std::byte* const> destinations_;
  DetectionScratch& scratch_;
  ReadCost& cost_;
  int size_;
  std::uint8_t* bytes_;              // of the picture, or of the pixels that it is drawn of
  std::optional<TileWriter> tiles_;  // when the training device draws it
  std::int64_t count_ = 0;
  double start_s_ = 0;
  double io_before_s_ = 0;
  SkippedItem problem_;
};

std::int64_t most_targets(const DetectionSet& set, bool is_mosaic) {
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (const DetectionPicture& picture : set.pictures) {
    const double boxes = picture.box_count;
    sum += boxes;
    squares += boxes * boxes;
    largest = std::max(largest, boxes);
  }
  double most = largest;
  if (is_mosaic) {
    const double count = static_cast<double>(set.pictures.size());
    const double mean = sum / count;
    const double variance = std::max(0.0, squares / count - mean * mean);
    most = std::min(4 * largest, 4 * mean + 6 * std::sqrt(4 * variance));
  }
  return std::max<std::int64_t>(8, static_cast<std::int64_t>(std::ceil(most / 8)) * 8);
}

DetectionDataset::DetectionDataset(DetectionSet set, const DatasetOptions& options)
    : set_(std::move(set)),
      access_(options.io, set_.pictures.empty() ? set_.folder : set_.path(0)),
      format_(options.format),
      image_size_(static_cast<int>(options.image_size)),
      evaluation_(options.evaluation),
      augment_name_(options.evaluation ? "none" : options.augment),
      augment_(augment_name_ == "mosaic"   ? Augment::kMosaic
               : augment_name_ == "single" ? Augment::kSingle
                                           : Augment::kNone),
      draw_on_device_(options.draw_on_device && augment_ != Augment::kNone),
      most_targets_(most_targets(set_, augment_ == Augment::kMosaic)),
      files_(std::make_unique<WholeFile[]>(set_.pictures.size())) {}

std::vector<TensorLayout> DetectionDataset::layout() const {
  const std::vector<TensorLayout> drawn = detection_layout(image_size_, most_targets_, evaluation_);
  if (!draw_on_device_) return drawn;
  std::vector<TensorLayout> tensors = tile_layout(image_size_);
  tensors.insert(tensors.begin() + 1, drawn[1]);
  return tensors;
}

std::unique_ptr<ReadScratch> DetectionDataset::make_scratch() const {
  return std::make_unique<DetectionScratch>();
}

bool DetectionDataset::read(const SampleKey& key, std::span<std::byte* const> destinations,
                            ReadScratch& scratch, ReadCost& cost, SkippedItem& skipped) const {
  Sample sample(*this, key, destinations, static_cast<DetectionScratch&>(scratch), cost);
  if (sample.read()) return true;
  skipped = sample.take_problem();
  return false;
}

std::map<std::string, std::string> DetectionDataset::facts() const {
  const auto is_background = [](const DetectionPicture& p) { return p.box_count == 0; };
  return {
      {"format", format_},
      {"folder", set_.folder.native()},
      {"labels", set_.labels.native()},
      {"classes", std::to_string(set_.classes.size())},
      {"files", std::to_string(set_.pictures.size())},
      {"bytes", std::to_string(set_.bytes)},
      {"boxes", std::to_string(set_.boxes.size())},
      {"background_pictures", std::to_string(std::ranges::count_if(set_.pictures, is_background))},
      {"augment", augment_name_},
      {"targets_per_sample", std::to_string(most_targets_)},
      {"targets_dropped", std::to_string(targets_dropped_.load())},
      {"left_out_at_scan", std::to_string(set_.skipped.count())}};
}

std::unique_ptr<Dataset> make_coco(const DatasetOptions& options) {
  return std::make_unique<DetectionDataset>(read_coco_set(options), options);
}

std::unique_ptr<Dataset> make_yolo(const DatasetOptions& options) {
  return std::make_unique<DetectionDataset>(read_yolo_set(options), options);
}

}  // namespace falcon::data
