#include "data/jpeg_encoder.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <jpeglib.h>

#include "falconbench/errors.h"

namespace falcon::data {
namespace {

struct ErrorManager {
  jpeg_error_mgr base;  // first: libjpeg knows only this part
  std::jmp_buf jump;
};

[[noreturn]] void error_exit(j_common_ptr common) {
  std::longjmp(reinterpret_cast<ErrorManager*>(common->err)->jump, 1);
}

struct Compressor {
  jpeg_compress_struct cinfo{};
  ErrorManager errors{};
  unsigned char* out = nullptr;
  unsigned long out_bytes = 0;

  Compressor() {
    cinfo.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = error_exit;
  }
  ~Compressor() {
    jpeg_destroy_compress(&cinfo);
    std::free(out);  // jpeg_mem_dest takes it from malloc
  }
};

// Owns nothing: an error leaves it by longjmp.
bool compress(Compressor& c, const std::uint8_t* rgb, int quality) {
  if (setjmp(c.errors.jump) != 0) return false;
  jpeg_set_defaults(&c.cinfo);
  jpeg_set_quality(&c.cinfo, quality, TRUE);
  jpeg_start_compress(&c.cinfo, TRUE);
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(c.cinfo.image_width);
  while (c.cinfo.next_scanline < c.cinfo.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(rgb + c.cinfo.next_scanline * row_bytes);
    jpeg_write_scanlines(&c.cinfo, &row, 1);
  }
  jpeg_finish_compress(&c.cinfo);
  return true;
}

bool begin(Compressor& c, int width, int height) {
  if (setjmp(c.errors.jump) != 0) return false;
  jpeg_create_compress(&c.cinfo);
  jpeg_mem_dest(&c.cinfo, &c.out, &c.out_bytes);
  c.cinfo.image_width = static_cast<JDIMENSION>(width);
  c.cinfo.image_height = static_cast<JDIMENSION>(height);
  c.cinfo.input_components = 3;
  c.cinfo.in_color_space = JCS_RGB;
  return true;
}

}  // namespace

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, int width, int height,
                                   int quality) {
  const auto compressor = std::make_unique<Compressor>();
  if (!begin(*compressor, width, height) || !compress(*compressor, rgb.data(), quality)) {
    throw Error(ExitCode::kInternal, "libjpeg could not write a picture of " +
                                         std::to_string(width) + "x" + std::to_string(height));
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(compressor->out);
  return {bytes, bytes + compressor->out_bytes};
}

}  // namespace falcon::data
