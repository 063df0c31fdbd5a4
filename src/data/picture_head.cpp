#include "data/picture_head.h"

#include <cstdint>

#include "data/file_kind.h"

namespace falcon::data {
namespace {

// Enough for the size of most pictures; where a long EXIF block hides it, the decoder finds it
// later.
constexpr std::size_t kHeadBytes = 4096;

std::optional<DecodeProblem> problem_of(std::span<const std::byte> head, PictureHead& result) {
  if (head.empty()) return DecodeProblem{"empty", "the file has no bytes"};
  if (!starts_as_jpeg(head)) return DecodeProblem{"not_jpeg", not_jpeg_text(head)};
  if (!jpeg_size(head, result.width, result.height)) result.width = result.height = 0;
  if (std::int64_t{result.width} * result.height > JpegDecoder::kMaxPixels) {
    return DecodeProblem{"too_large",
                         too_large_text(result.width, result.height, JpegDecoder::kMaxPixels)};
  }
  return std::nullopt;
}

class NoRows : public RowSink {
 public:
  void row(int, const std::uint8_t*) override {}
};

}  // namespace

PictureHead read_picture_head(const std::filesystem::path& path, FileBytes& buffer) {
  PictureHead result;
  std::string problem;
  if (buffer.read(path, problem, kHeadBytes)) {
    result.problem = problem_of(buffer.bytes(), result);
  } else {
    result.problem = DecodeProblem{"unreadable", problem};
  }
  result.file_bytes = buffer.file_size();
  return result;
}

std::optional<DecodeProblem> whole_file_problem(const std::filesystem::path& path, FileBytes& file,
                                                JpegDecoder& decoder) {
  std::string problem;
  if (!file.read(path, problem)) return DecodeProblem{"unreadable", problem};
  NoRows rows;
  if (decoder.open(file.bytes()) && decoder.decode({0, 0, decoder.width(), decoder.height()}, rows,
                                                   JpegDecoder::Extent::kWholeFile)) {
    return std::nullopt;
  }
  return decoder.problem();
}

}  // namespace falcon::data
