#include "data/resample_avx2.h"

#if defined(__x86_64__)
#include <cstring>

#include <immintrin.h>

#define FALCON_AVX2 [[gnu::target("avx2")]]

namespace falcon::data {
namespace {

constexpr int kHalf = 1 << (kWeightBits - 1);
constexpr std::size_t kColumnBytes = 32;

FALCON_AVX2 inline __m256i load_pixels(const std::uint8_t* bytes) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}

// kPairs: how many pairs of source pixels every output pixel takes, 0 when each has its own number.
// With a fixed number the loop unrolls; pixels beyond the last one needed meet weight zero.
template <int kPairs>
FALCON_AVX2 void row_of_pairs(const AxisWeights& axis, const std::uint8_t* rgbx,
                              std::uint8_t* rgb) {
  const __m256i each_four_times = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m128i low_bytes =
      _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i half = _mm_set1_epi32(kHalf);
  const int count = axis.out_count();
  for (int x = 0; x < count; ++x) {
    const std::uint8_t* pixel = rgbx + 4 * (axis.first(x) - axis.source_begin());
    const std::int32_t* weight = axis.weights(x);
    const int taps = kPairs > 0 ? 2 * kPairs : axis.taps(x);
    __m256i sums = _mm256_setzero_si256();
    for (int k = 0; k < taps; k += 2) {
      const __m128i pair = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weight + k));
      const __m256i weights =
          _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(pair), each_four_times);
      sums = _mm256_add_epi32(sums, _mm256_mullo_epi32(load_pixels(pixel + 4 * k), weights));
    }
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_srai_epi32(_mm_add_epi32(sum, half), kWeightBits);
    const int packed = _mm_cvtsi128_si32(_mm_shuffle_epi8(sum, low_bytes));
    std::memcpy(rgb + 3 * x, &packed, sizeof packed);  // the next pixel overwrites the fourth byte
  }
}

}  // namespace

bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}

FALCON_AVX2 void row_avx2(const AxisWeights& axis, const std::uint8_t* rgbx, std::uint8_t* rgb) {
  switch ((axis.most_taps() + 1) / 2) {
    case 1:
      return row_of_pairs<1>(axis, rgbx, rgb);
    case 2:
      return row_of_pairs<2>(axis, rgbx, rgb);
    case 3:
      return row_of_pairs<3>(axis, rgbx, rgb);
    case 4:
      return row_of_pairs<4>(axis, rgbx, rgb);
    default:
      return row_of_pairs<0>(axis, rgbx, rgb);
  }
}

FALCON_AVX2 std::size_t column_avx2(const ColumnTaps& taps, std::size_t row_bytes,
                                    std::uint8_t* out) {
  const __m256i half = _mm256_set1_epi32(kHalf);
  const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  std::size_t x = 0;
  for (; x + kColumnBytes <= row_bytes; x += kColumnBytes) {
    __m256i sum[4] = {half, half, half, half};
    const std::uint8_t* source = taps.rows + x;
    for (int k = 0; k < taps.count; ++k, source += taps.row_stride) {
      const __m256i weight = _mm256_set1_epi32(taps.weights[k]);
      for (int i = 0; i < 4; ++i) {
        sum[i] = _mm256_add_epi32(sum[i], _mm256_mullo_epi32(load_pixels(source + 8 * i), weight));
      }
    }
    for (__m256i& s : sum) s = _mm256_srai_epi32(s, kWeightBits);
    const __m256i packed = _mm256_packus_epi16(_mm256_packus_epi32(sum[0], sum[1]),
                                               _mm256_packus_epi32(sum[2], sum[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x),
                        _mm256_permutevar8x32_epi32(packed, in_order));
  }
  return x;
}

}  // namespace falcon::data

#else

namespace falcon::data {
bool has_avx2() {
  return false;
}
void row_avx2(const AxisWeights&, const std::uint8_t*, std::uint8_t*) {}
std::size_t column_avx2(const ColumnTaps&, std::size_t, std::uint8_t*) {
  return 0;
}
}  // namespace falcon::data

#endif
