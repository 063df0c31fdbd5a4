// JPEG files to RGB pixels, safely: every complaint of libjpeg, warnings included, makes the file
// "damaged", and a size limit is checked before memory is taken. Gray and CMYK/YCCK become RGB;
// EXIF is ignored (as torchvision's ImageFolder does). Full-resolution accurate integer DCT and
// fancy upsampling: libjpeg-turbo's defaults, which Pillow uses too. One object a thread, used
// again for every file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/jpeg_rows.h"

namespace falcon::data {

/// Pixels, from the top left corner.
struct PixelRect {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  friend bool operator==(const PixelRect&, const PixelRect&) = default;
};

/// Why a file cannot be used: reason is one of "empty", "not_jpeg", "too_large", "unsupported",
/// "damaged".
struct DecodeProblem {
  std::string reason;
  std::string detail;
};

/// Takes rows as they are decoded.
class RowSink {
 public:
  virtual ~RowSink() = default;
  static constexpr std::size_t kSlackBytes = 32;
  /// Row `y` of the picture; `pixels` holds those of the rectangle, RGB and a fourth byte that is
  /// undefined, or RGB alone, and kSlackBytes readable bytes behind them.
  virtual void row(int y, const std::uint8_t* pixels) = 0;
  /// Bytes of a pixel that it takes, 3 or 4.
  virtual int pixel_bytes() const { return 4; }
};

class JpegDecoder {
 public:
  /// Width times height that a header may claim: what Pillow takes as the limit of a reasonable
  /// picture (a quarter of a GiB in RGB).
  static constexpr std::int64_t kMaxPixels = 89'478'485;
  /// How much of the file a decode looks at.
  enum class Extent {
    kWholeFile,      // damage anywhere is found
    kUpToRectangle,  // stops after the rectangle's last row
  };

  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Reads the header of a file in memory, which must stay there until decode() is done. False: see
  /// problem().
  bool open(std::span<const std::byte> file);
  int width() const;  // REQUIRES: open() returned true; no decode() since then
  int height() const;

  /// Decodes a rectangle; its pixels are those of a full decode. False when the file is damaged
  /// (rows may have been given out already). REQUIRES: open() returned true just before; the
  /// rectangle is not empty and inside. rows: of this file, when it has been decoded whole before;
  /// with kUpToRectangle decoding may then begin just above the rectangle.
  bool decode(const PixelRect& rectangle, RowSink& sink, Extent extent,
              const JpegRows* rows = nullptr);

  const DecodeProblem& problem() const;

 private:
  struct State;
  bool fail(std::string reason, std::string detail);
  int resume(const JpegRows& rows, int top);
  bool give_rows(const PixelRect& rectangle, int x_in_row, int row_pixels, RowSink& sink);
  bool read_rest();
  std::unique_ptr<State> state_;
};

/// The whole picture as packed RGB rows, for tests and checks. Empty when the file is not usable;
/// problem says why.
std::vector<std::uint8_t> decode_rgb(std::span<const std::byte> file, int& width, int& height,
                                     DecodeProblem& problem);

}  // namespace falcon::data
