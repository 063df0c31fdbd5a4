#include "data/bilinear_avx2.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define FALCON_AVX2 [[gnu::target("avx2")]]

namespace falcon::data {
namespace {

// Two pixels side by side, in each half of a register.
FALCON_AVX2 inline __m256i load_pairs(const std::uint8_t* low, const std::uint8_t* high) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(low))),
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(high)), 1);
}

FALCON_AVX2 inline void four_pixels(const std::uint8_t* const from[4], const std::uint32_t* weights,
                                    std::int16_t* out) {
  // first and second pixel's red as 16-bit neighbours, then green, blue, and what is behind
  const __m256i neighbours =
      _mm256_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1, 0, -1, 4, -1, 1, -1,
                       5, -1, 2, -1, 6, -1, 3, -1, 7, -1);
  const __m256i even = _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2);
  const __m256i odd = _mm256_setr_epi32(1, 1, 1, 1, 3, 3, 3, 3);
  const __m256i all_weights =
      _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights)));
  const __m256i a = _mm256_shuffle_epi8(load_pairs(from[0], from[2]), neighbours);
  const __m256i b = _mm256_shuffle_epi8(load_pairs(from[1], from[3]), neighbours);
  const __m256i sum_a = _mm256_madd_epi16(a, _mm256_permutevar8x32_epi32(all_weights, even));
  const __m256i sum_b = _mm256_madd_epi16(b, _mm256_permutevar8x32_epi32(all_weights, odd));
  const __m256i packed =
      _mm256_packs_epi32(_mm256_srli_epi32(sum_a, 4), _mm256_srli_epi32(sum_b, 4));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), packed);
}

}  // namespace

FALCON_AVX2 void resize_row_avx2(const LinearAxis& axis, const std::uint8_t* rgbx,
                                 std::int16_t* row) {
  const int count = axis.out_count();
  const std::uint8_t* base = rgbx - 4 * static_cast<std::ptrdiff_t>(axis.source_begin());
  int x = 0;
  for (; x + 4 <= count; x += 4) {
    const std::uint8_t* const from[4] = {base + 4 * axis.first(x), base + 4 * axis.first(x + 1),
                                         base + 4 * axis.first(x + 2),
                                         base + 4 * axis.first(x + 3)};
    four_pixels(from, axis.weights(x), row + 4 * x);
  }
  if (x == count) return;
  const std::uint8_t* from[4];
  for (int i = 0; i < 4; ++i) from[i] = base + 4 * axis.first(x + i < count ? x + i : count - 1);
  four_pixels(from, axis.weights(x), row + 4 * x);
}

FALCON_AVX2 void blend_rows_avx2(const std::int16_t* above, const std::int16_t* below,
                                 int weight_above, int weight_below, int pixels,
                                 std::uint8_t* rgb) {
  const __m256i a = _mm256_set1_epi16(static_cast<std::int16_t>(weight_above));
  const __m256i b = _mm256_set1_epi16(static_cast<std::int16_t>(weight_below));
  const __m256i two = _mm256_set1_epi16(2);
  const __m256i without_fourth =
      _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0, 1, 2, 4, 5, 6, 8,
                       9, 10, 12, 13, 14, -1, -1, -1, -1);
  const auto blend = [&](int at) __attribute__((target("avx2"), always_inline)) {
    const __m256i top = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(above + at));
    const __m256i bottom = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(below + at));
    const __m256i quarters =
        _mm256_add_epi16(_mm256_mulhi_epi16(top, a), _mm256_mulhi_epi16(bottom, b));
    return _mm256_srai_epi16(_mm256_add_epi16(quarters, two), 2);
  };
  for (int x = 0; x < pixels; x += 8) {
    // packing works within halves: pixels 0 1 4 5 | 2 3 6 7, put in order again
    const __m256i levels = _mm256_permute4x64_epi64(
        _mm256_packus_epi16(blend(4 * x), blend(4 * x + 16)), 0b11'01'10'00);
    const __m256i packed = _mm256_shuffle_epi8(levels, without_fourth);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rgb + 3 * x), _mm256_castsi256_si128(packed));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rgb + 3 * x + 12),
                     _mm256_extracti128_si256(packed, 1));
  }
}

}  // namespace falcon::data

#else

namespace falcon::data {
void resize_row_avx2(const LinearAxis&, const std::uint8_t*, std::int16_t*) {}
void blend_rows_avx2(const std::int16_t*, const std::int16_t*, int, int, int, std::uint8_t*) {}
}  // namespace falcon::data

#endif
