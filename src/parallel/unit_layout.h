// Where the parameters of a model lie in flat buffers that divide by the number of ranks. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <c10/core/ScalarType.h>

#include <falconbench/model.h>

namespace falcon::parallel {

/// A parameter begins on a multiple of these elements: 16-byte loads and cuBLAS want it.
inline constexpr std::int64_t kAlignment = 64;
/// The next multiple of kAlignment.
constexpr std::int64_t aligned(std::int64_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

/// A parameter in the buffer of its unit.
struct Place {
  std::size_t parameter = 0;  // in model.parameters()
  std::int64_t begin = 0;
  std::int64_t size = 0;  // elements
};

/// Parameters that are gathered and reduced together: those of neighbouring blocks of the model
/// (Model::blocks()), matrices before vectors, each in the order of its memory.
struct UnitLayout {
  at::ScalarType type = at::kFloat;  // of what the model computes with
  std::vector<Place> places = {};
  std::int64_t size = 0;  // elements, padded: a multiple of world * kAlignment
  std::size_t first_block = 0;
  std::size_t last_block = 0;
  /// Vectors of all blocks, where matrices are held in another type: a small unit that is used from
  /// the first block to the last.
  bool is_common = false;
};

struct LayoutOptions {
  int world = 1;
  std::int64_t unit_bytes = 0;  // a unit has at least so many, or all that is left
  std::optional<at::ScalarType> narrow_type = {};  // of product weights
};

/// In the order of the blocks; a common unit comes last. Every parameter has one place. A block is
/// never divided. REQUIRES: parameters of one floating type.
std::vector<UnitLayout> lay_out(const Model& model, const LayoutOptions& options);

/// Block of a parameter of this name, as Model::blocks() says.
std::size_t block_of(const std::string& name, const std::vector<std::string>& blocks);

/// The part [begin, end) of a unit that a rank updates.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};
Range shard_of(const UnitLayout& unit, int rank, int world);
/// What of the place lies in the range, counted from the beginning of the unit; size 0: nothing.
Range overlap(const Place& place, const Range& range);

}  // namespace falcon::parallel
