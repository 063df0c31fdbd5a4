#include "data/file_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace falcon::data {
namespace {

unsigned byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}

struct Signature {
  std::string_view bytes;
  std::size_t offset;
  const char* kind;
};

constexpr std::array<Signature, 6> kSignatures = {{
    {"\x89PNG", 0, "a PNG file"},
    {"GIF8", 0, "a GIF file"},
    {"WEBP", 8, "a WebP file"},
    {"BM", 0, "a BMP file"},
    {"II*", 0, "a TIFF file"},
    {"<", 0, "text (HTML or XML)"},
}};

std::string lower_extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  std::string extension(name.substr(dot));
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace

bool starts_as_jpeg(std::span<const std::byte> head) {
  return head.size() >= 3 && byte_at(head, 0) == 0xFF && byte_at(head, 1) == 0xD8 &&
         byte_at(head, 2) == 0xFF;
}

std::string not_jpeg_text(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  for (const Signature& s : kSignatures) {
    if (text.size() > s.offset && text.substr(s.offset).starts_with(s.bytes)) {
      return std::string("it is ") + s.kind + "; only JPEG is read";
    }
  }
  std::string detail = "it starts with";
  for (std::size_t i = 0; i < std::min<std::size_t>(4, head.size()); ++i) {
    char hex[8];
    std::snprintf(hex, sizeof hex, " 0x%02x", byte_at(head, i));
    detail += hex;
  }
  return detail + ", a JPEG with 0xff 0xd8 0xff";
}

std::string too_large_text(int width, int height, std::int64_t max_pixels) {
  return "the header claims " + std::to_string(width) + "x" + std::to_string(height) + " = " +
         std::to_string(std::int64_t{width} * height) + " pixels, the limit is " +
         std::to_string(max_pixels);
}

bool jpeg_size(std::span<const std::byte> head, int& width, int& height) {
  std::size_t at = 2;
  while (at + 9 < head.size()) {
    if (byte_at(head, at) != 0xFF) return false;
    const unsigned marker = byte_at(head, at + 1);
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    const bool is_frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame) {
      height = static_cast<int>(byte_at(head, at + 5) << 8 | byte_at(head, at + 6));
      width = static_cast<int>(byte_at(head, at + 7) << 8 | byte_at(head, at + 8));
      return true;
    }
    at += 2 + (byte_at(head, at + 2) << 8 | byte_at(head, at + 3));
  }
  return false;
}

bool is_jpeg_name(std::string_view file_name) {
  const std::string extension = lower_extension(file_name);
  return extension == ".jpg" || extension == ".jpeg";
}

bool is_other_picture_name(std::string_view file_name) {
  static constexpr std::array<std::string_view, 7> kOthers = {".png", ".webp", ".gif", ".bmp",
                                                              ".tif", ".tiff", ".ppm"};
  return std::ranges::find(kOthers, lower_extension(file_name)) != kOthers.end();
}

}  // namespace falcon::data
