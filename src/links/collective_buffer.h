// The operands of one collective: filled so that every rank knows the result, and checked.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "comm/process_group.h"

namespace falcon::links {

/// One collective of one size on this rank. Elements are whole numbers from 1 to 16 that depend on
/// rank, place and seed; sums of up to 16 of them are exact in bfloat16.
class CollectiveBuffer {
 public:
  virtual ~CollectiveBuffer() = default;
  /// Of the whole: all_gather's output, reduce_scatter's input, else the buffer of a rank.
  virtual std::int64_t bytes() const = 0;
  /// New contents; what is to be received is spoiled.
  virtual void fill(std::int64_t seed) = 0;
  virtual void call() = 0;
  /// Whether `calls` calls since fill(seed) gave what they should, on this rank.
  virtual bool is_right(std::int64_t seed, std::int64_t calls) const = 0;
};

/// whole_bytes is rounded down to what the ranks can share. Throws Error(kUsage) for an unknown
/// operation. group outlives it.
std::unique_ptr<CollectiveBuffer> make_collective_buffer(const std::string& operation,
                                                         comm::ProcessGroup& group,
                                                         std::int64_t whole_bytes,
                                                         at::ScalarType type);

}  // namespace falcon::links
