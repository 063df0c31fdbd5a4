// The embedding of tokens and its gradients on a GPU, as raw pointers. All sums are of float32 in a
// fixed order: the same input gives the same bits.
#pragma once
#include <cstdint>

struct CUstream_st;

namespace falcon::ops::cuda {

/// Type ids are 0 or 1.
constexpr int kTokenTypes = 2;

/// Of all tables; ids and type_ids [batch, length].
struct TokenIds {
  const std::int32_t* ids = nullptr;
  const std::int32_t* type_ids = nullptr;
  std::int64_t batch = 0;
  std::int64_t length = 0;
  std::int64_t width = 0;
};

/// sum[t] = (words[ids[t]] + types[type_ids[t]]) + positions[t % length], rows of width.
struct EmbeddingForward {
  TokenIds tokens;
  const float* words = nullptr;
  const float* types = nullptr;
  const float* positions = nullptr;
  float* sum = nullptr;
};

struct EmbeddingBackward {
  TokenIds tokens;
  const float* dsum = nullptr;
  float* dwords = nullptr;          // [words, width], 0 before; nullptr: is left to others
  float* dtypes = nullptr;          // [kTokenTypes, width]
  float* dpositions = nullptr;      // [positions, width]
  std::int64_t positions = 0;       // at least length
  std::int64_t padding_index = -1;  // the row of words that is left alone
  float* scratch = nullptr;         // [length, kTokenTypes, width]
};

/// Whether rows of this width are taken.
bool embedding_supported(std::int64_t width);
/// The number of tokens up to which dwords are taken: each token looks for its like among all.
constexpr std::int64_t kMaxEmbeddedTokens = 16384;

/// REQUIRES: tables and sums aligned to 16 bytes.
void embedding_forward(const EmbeddingForward& job, CUstream_st* stream);
void embedding_backward(const EmbeddingBackward& job, CUstream_st* stream);

}  // namespace falcon::ops::cuda
