// The kernels of the link measurements, as raw pointers. All are enqueued and do not wait.
#pragma once
#include <cstdint>

struct CUstream_st;

namespace falcon::links::cuda {

/// words[i] = pattern_word(i, seed).
void fill_pattern(std::uint64_t* words, std::int64_t count, std::uint64_t seed,
                  CUstream_st* stream);

/// Adds the number of words that are not the pattern's to *wrong (device memory).
void count_wrong(const std::uint64_t* words, std::int64_t count, std::uint64_t seed,
                 unsigned long long* wrong, CUstream_st* stream);

/// Holds the stream until *open (mapped host memory) is not 0, or limit_ns have passed: *expired
/// is then 1.
void wait_for_gate(const volatile int* open, volatile int* expired, std::int64_t limit_ns,
                   CUstream_st* stream);

/// Copies by loads and stores of 16 bytes; either side may be another GPU's memory. REQUIRES: both
/// aligned to 16 bytes and count a multiple of it.
void copy_by_kernel(void* target, const void* source, std::int64_t bytes, CUstream_st* stream);

/// One thread follows next[...] from 0 for `hops` loads, each of which waits for the one before;
/// the last index goes to *last, so that no load can be left out.
void follow(const std::uint64_t* next, std::int64_t hops, std::uint64_t* last, CUstream_st* stream);

/// False in a build without a CUDA compiler; the functions above then throw Error(kHost).
bool has_link_kernels();

}  // namespace falcon::links::cuda
