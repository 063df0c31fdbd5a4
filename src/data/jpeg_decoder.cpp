#include "data/jpeg_decoder.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <utility>

#include <jerror.h>
#include <jpeglib.h>

#include "data/file_kind.h"

namespace falcon::data {
namespace {

// A progressive file of a few KB can ask for tens of thousands of passes over a large picture; real
// ones have about 10.
constexpr int kMaxScans = 500;
// Fancy upsampling looks one chroma sample (two pixels) beyond; with these the edges equal those of
// a full decode.
constexpr int kEdgePixels = 2;
constexpr int kMaxRowsAtOnce = 4;

struct ErrorManager {
  jpeg_error_mgr base;  // first: libjpeg knows only this part
  std::jmp_buf jump;
  std::string first_message;
  std::size_t bytes_left = 0;
  int warnings = 0;
};

ErrorManager& errors_of(j_common_ptr common) {
  return *reinterpret_cast<ErrorManager*>(common->err);
}

// A file in memory, in one piece or two.
struct Source {
  jpeg_source_mgr base;  // first: libjpeg knows only this part
  std::span<const std::byte> rest;

  void set(const void* first, std::size_t bytes, std::span<const std::byte> then = {}) {
    base.next_input_byte = static_cast<const JOCTET*>(first);
    base.bytes_in_buffer = bytes;
    rest = then;
  }
};

void note_message(j_common_ptr common) {
  ErrorManager& errors = errors_of(common);
  if (!errors.first_message.empty()) return;
  char text[JMSG_LENGTH_MAX];
  (*common->err->format_message)(common, text);
  errors.first_message = text;
  const auto* source =
      reinterpret_cast<const Source*>(reinterpret_cast<j_decompress_ptr>(common)->src);
  if (source != nullptr) errors.bytes_left = source->base.bytes_in_buffer + source->rest.size();
}

[[noreturn]] void error_exit(j_common_ptr common) {
  note_message(common);
  std::longjmp(errors_of(common).jump, 1);
}

void emit_message(j_common_ptr common, int level) {
  if (level >= 0) return;  // trace
  const int code = common->err->msg_code;
  if (code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR) return;  // odd headers, whole pictures
  note_message(common);
  ++errors_of(common).warnings;
}

void output_message(j_common_ptr) {}
void no_source_action(j_decompress_ptr) {}

boolean next_piece(j_decompress_ptr cinfo) {
  Source& source = *reinterpret_cast<Source*>(cinfo->src);
  if (!source.rest.empty()) {
    source.set(source.rest.data(), source.rest.size());
    return TRUE;
  }
  static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};
  WARNMS(cinfo, JWRN_JPEG_EOF);
  source.set(end_of_image, sizeof end_of_image);
  return TRUE;
}

void skip_input(j_decompress_ptr cinfo, long count) {
  jpeg_source_mgr& source = *cinfo->src;
  while (count > static_cast<long>(source.bytes_in_buffer)) {
    count -= static_cast<long>(source.bytes_in_buffer);
    next_piece(cinfo);
    if (count > 0) return;  // only the made-up end is left
  }
  if (count <= 0) return;
  source.next_input_byte += count;
  source.bytes_in_buffer -= static_cast<std::size_t>(count);
}

void limit_scans(j_common_ptr common) {
  auto* cinfo = reinterpret_cast<j_decompress_ptr>(common);
  if (cinfo->input_scan_number > kMaxScans) ERREXIT1(cinfo, JERR_BAD_PROGRESSION, kMaxScans);
}

// Pillow's cmyk2rgb on un-inverted values: (255 - k) * (255 - c) / 255, rounded.
std::uint8_t ink(unsigned c, unsigned not_k) {
  const unsigned product = c * not_k + 128;
  return static_cast<std::uint8_t>(not_k - (((product >> 8) + product) >> 8));
}

void cmyk_to_rgbx(std::uint8_t* pixels, int count, bool inverted) {
  const unsigned flip = inverted ? 255 : 0;
  for (std::uint8_t* p = pixels; p != pixels + 4 * count; p += 4) {
    const unsigned not_k = 255 - (p[3] ^ flip);
    for (int channel = 0; channel < 3; ++channel) p[channel] = ink(p[channel] ^ flip, not_k);
  }
}

void drop_fourth_bytes(std::uint8_t* pixels, int count) {
  for (int i = 0; i < count; ++i) std::memmove(pixels + 3 * i, pixels + 4 * i, 3);
}

bool is_unsupported(int code) {
  return code == JERR_SOF_UNSUPPORTED || code == JERR_BAD_PRECISION ||
         code == JERR_CONVERSION_NOTIMPL || code == JERR_NOT_COMPILED ||
         code == JERR_ARITH_NOTIMPL || code == JERR_NOTIMPL;
}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct cinfo{};
  ErrorManager errors{};
  Source source{};
  jpeg_progress_mgr progress{};
  std::span<const std::byte> file;
  std::vector<std::uint8_t> head;  // what stands for the file's first bytes
  std::vector<std::uint8_t> rows;
  DecodeProblem problem;
};

namespace {

// Runs libjpeg calls; false when one of them gave up. `calls` must own nothing: an error leaves it
// by longjmp.
template <class Calls>
bool guarded(ErrorManager& errors, const Calls& calls) {
  if (setjmp(errors.jump) != 0) return false;
  calls();
  return true;
}

}  // namespace

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.cinfo.err = jpeg_std_error(&s.errors.base);
  s.errors.base.error_exit = error_exit;
  s.errors.base.emit_message = emit_message;
  s.errors.base.output_message = output_message;
  if (!guarded(s.errors, [&s] { jpeg_create_decompress(&s.cinfo); })) throw std::bad_alloc();
  s.source.base.init_source = no_source_action;
  s.source.base.fill_input_buffer = next_piece;
  s.source.base.skip_input_data = skip_input;
  s.source.base.resync_to_restart = jpeg_resync_to_restart;
  s.source.base.term_source = no_source_action;
  s.progress.progress_monitor = limit_scans;
  s.cinfo.src = &s.source.base;
  s.cinfo.progress = &s.progress;
}

JpegDecoder::~JpegDecoder() {
  jpeg_destroy_decompress(&state_->cinfo);
}

int JpegDecoder::width() const {
  return static_cast<int>(state_->cinfo.image_width);
}
int JpegDecoder::height() const {
  return static_cast<int>(state_->cinfo.image_height);
}
const DecodeProblem& JpegDecoder::problem() const {
  return state_->problem;
}

bool JpegDecoder::fail(std::string reason, std::string detail) {
  jpeg_abort_decompress(&state_->cinfo);
  state_->problem = {std::move(reason), std::move(detail)};
  return false;
}

bool JpegDecoder::open(std::span<const std::byte> file) {
  State& s = *state_;
  if (file.empty()) return fail("empty", "the file has no bytes");
  if (!starts_as_jpeg(file)) return fail("not_jpeg", not_jpeg_text(file));
  jpeg_abort_decompress(&s.cinfo);
  s.errors.first_message.clear();
  s.errors.warnings = 0;
  s.file = file;
  s.source.set(file.data(), file.size());
  jpeg_decompress_struct& cinfo = s.cinfo;
  if (!guarded(s.errors, [&cinfo] { jpeg_read_header(&cinfo, TRUE); })) {
    return fail(is_unsupported(s.errors.base.msg_code) ? "unsupported" : "damaged",
                "the header cannot be read: " + s.errors.first_message);
  }
  const std::int64_t pixels = std::int64_t{width()} * height();
  if (pixels > kMaxPixels) return fail("too_large", too_large_text(width(), height(), kMaxPixels));
  if (cinfo.num_components == 2) return fail("unsupported", "it has 2 colour components");
  return true;
}

// How many rows of the picture libjpeg does not know of, from here on.
int JpegDecoder::resume(const JpegRows& rows, int top) {
  State& s = *state_;
  const std::optional<JpegRows::Resume> resume = rows.resume(s.file, top, s.head);
  if (!resume) return 0;
  jpeg_abort_decompress(&s.cinfo);
  s.source.set(s.head.data(), s.head.size(), s.file.subspan(resume->next));
  if (!guarded(s.errors, [&s] { jpeg_read_header(&s.cinfo, TRUE); })) return 0;
  return resume->shift;
}

bool JpegDecoder::decode(const PixelRect& rectangle, RowSink& sink, Extent extent,
                         const JpegRows* rows) {
  State& s = *state_;
  jpeg_decompress_struct& cinfo = s.cinfo;
  const bool may_begin_below = rows != nullptr && extent == Extent::kUpToRectangle;
  const int unknown_rows = may_begin_below ? resume(*rows, rectangle.top) : 0;
  const JDIMENSION rows_above = static_cast<JDIMENSION>(rectangle.top - unknown_rows);
  const J_COLOR_SPACE wanted = sink.pixel_bytes() == 3 ? JCS_EXT_RGB : JCS_EXT_RGBX;
  cinfo.out_color_space = cinfo.num_components == 4 ? JCS_CMYK : wanted;
  const int left = std::max(0, rectangle.left - kEdgePixels);
  const int right = std::min(width(), rectangle.left + rectangle.width + kEdgePixels);
  JDIMENSION offset = static_cast<JDIMENSION>(left);
  JDIMENSION row_pixels = static_cast<JDIMENSION>(right - left);
  bool good = guarded(s.errors, [&] {
    jpeg_start_decompress(&cinfo);
    if (row_pixels < cinfo.output_width) jpeg_crop_scanline(&cinfo, &offset, &row_pixels);
    if (rows_above > 0) jpeg_skip_scanlines(&cinfo, rows_above);
  });
  good = good && give_rows(rectangle, rectangle.left - static_cast<int>(offset),
                           static_cast<int>(row_pixels), sink);
  if (good && extent == Extent::kWholeFile) good = read_rest();
  if (good && s.errors.warnings == 0) {
    jpeg_abort_decompress(&cinfo);
    return true;
  }
  const bool unsupported = !good && is_unsupported(s.errors.base.msg_code);
  return fail(unsupported ? "unsupported" : "damaged",
              s.errors.first_message + " (at byte " +
                  std::to_string(s.file.size() - std::min(s.errors.bytes_left, s.file.size())) +
                  " of " + std::to_string(s.file.size()) + ")");
}

bool JpegDecoder::give_rows(const PixelRect& rectangle, int x_in_row, int row_pixels,
                            RowSink& sink) {
  State& s = *state_;
  const std::size_t row_bytes = 4 * static_cast<std::size_t>(row_pixels);
  s.rows.resize(kMaxRowsAtOnce * row_bytes + RowSink::kSlackBytes);
  JSAMPROW rows[kMaxRowsAtOnce];
  for (int i = 0; i < kMaxRowsAtOnce; ++i) {
    rows[i] = s.rows.data() + static_cast<std::size_t>(i) * row_bytes;
  }
  const bool is_cmyk = s.cinfo.out_color_space == JCS_CMYK;
  const bool inverted = s.cinfo.saw_Adobe_marker == TRUE;  // Adobe's writers store 255 - ink
  int y = rectangle.top;
  const int end = rectangle.top + rectangle.height;
  while (y < end) {
    const JDIMENSION wanted = static_cast<JDIMENSION>(std::min(kMaxRowsAtOnce, end - y));
    JDIMENSION got = 0;
    if (!guarded(s.errors, [&] { got = jpeg_read_scanlines(&s.cinfo, rows, wanted); }))
      return false;
    if (got == 0) return false;
    for (JDIMENSION i = 0; i < got; ++i, ++y) {
      if (is_cmyk) cmyk_to_rgbx(rows[i], row_pixels, inverted);
      if (is_cmyk && sink.pixel_bytes() == 3) drop_fourth_bytes(rows[i], row_pixels);
      sink.row(y, rows[i] + sink.pixel_bytes() * x_in_row);
    }
  }
  return true;
}

bool JpegDecoder::read_rest() {
  State& s = *state_;
  jpeg_decompress_struct& cinfo = s.cinfo;
  return guarded(s.errors, [&] {
    // jpeg_skip_scanlines looks at nothing when it reaches the last row, so that one is read.
    JSAMPROW row = s.rows.data();
    const JDIMENSION rest = cinfo.output_height - cinfo.output_scanline;
    if (rest > 1) jpeg_skip_scanlines(&cinfo, rest - 1);
    if (rest > 0) jpeg_read_scanlines(&cinfo, &row, 1);
    jpeg_finish_decompress(&cinfo);
  });
}

namespace {

class RowsInMemory : public RowSink {
 public:
  RowsInMemory(std::vector<std::uint8_t>& pixels, int width) : pixels_(pixels), width_(width) {}
  void row(int, const std::uint8_t* rgbx) override {
    for (int x = 0; x < width_; ++x) pixels_.insert(pixels_.end(), rgbx + 4 * x, rgbx + 4 * x + 3);
  }

 private:
  std::vector<std::uint8_t>& pixels_;
  int width_;
};

}  // namespace

std::vector<std::uint8_t> decode_rgb(std::span<const std::byte> file, int& width, int& height,
                                     DecodeProblem& problem) {
  JpegDecoder decoder;
  std::vector<std::uint8_t> pixels;
  if (decoder.open(file)) {
    width = decoder.width();
    height = decoder.height();
    pixels.reserve(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    RowsInMemory rows(pixels, width);
    if (decoder.decode({0, 0, width, height}, rows, JpegDecoder::Extent::kWholeFile)) return pixels;
  }
  problem = decoder.problem();
  return {};
}

}  // namespace falcon::data
