// Elements of a GPU tensor in vectors of 16 bytes, computed with as floats.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace falcon::ops::cuda {

template <class T>
struct VectorOf {
  static constexpr int kSize = 16 / sizeof(T);
  float v[kSize];
};

__device__ inline float widen(float x) {
  return x;
}
__device__ inline float widen(__half x) {
  return __half2float(x);
}
__device__ inline float widen(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
__device__ inline void narrow(float x, float& out) {
  out = x;
}
__device__ inline void narrow(float x, __half& out) {
  out = __float2half_rn(x);
}
__device__ inline void narrow(float x, __nv_bfloat16& out) {
  out = __float2bfloat16_rn(x);
}

// What is in flight stays packed: widened vectors of kUnroll rows would not fit the registers.
__device__ inline uint4 fetch(const void* from) {
  return *static_cast<const uint4*>(from);
}

template <class T>
__device__ inline VectorOf<T> unpack(const uint4& raw) {
  union {
    uint4 raw;
    T items[VectorOf<T>::kSize];
  } bits;
  bits.raw = raw;
  VectorOf<T> out;
#pragma unroll
  for (int i = 0; i < VectorOf<T>::kSize; ++i) out.v[i] = widen(bits.items[i]);
  return out;
}

template <class T>
__device__ inline void store(T* to, const VectorOf<T>& in) {
  union {
    uint4 raw;
    T items[VectorOf<T>::kSize];
  } bits;
#pragma unroll
  for (int i = 0; i < VectorOf<T>::kSize; ++i) narrow(in.v[i], bits.items[i]);
  *reinterpret_cast<uint4*>(to) = bits.raw;
}

}  // namespace falcon::ops::cuda
