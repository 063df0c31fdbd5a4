#include "parallel/unit_layout.h"

#include <algorithm>

#include <c10/core/ScalarType.h>

namespace falcon::parallel {
namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

void add_place(UnitLayout& unit, const std::vector<NamedTensor>& parameters, std::size_t index) {
  const std::int64_t size = parameters[index].tensor.numel();
  unit.places.push_back({index, unit.size, size});
  unit.size += aligned(size);
}

/// What block `block` adds to the units between the first and the last block.
std::vector<std::size_t> regular_of(const std::vector<NamedTensor>& parameters,
                                    const std::vector<std::size_t>& block_of_each,
                                    std::size_t block, bool with_vectors) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool is_vector = parameters[i].tensor.dim() < 2;
    if (block_of_each[i] == block && (with_vectors || !is_vector)) found.push_back(i);
  }
  std::stable_partition(found.begin(), found.end(),
                        [&](std::size_t i) { return parameters[i].tensor.dim() > 1; });
  return found;
}

}  // namespace

std::size_t block_of(const std::string& name, const std::vector<std::string>& blocks) {
  const auto found = std::find_if(blocks.begin(), blocks.end(), [&](const std::string& prefix) {
    return name.starts_with(prefix);
  });
  return found == blocks.end() ? 0 : static_cast<std::size_t>(found - blocks.begin()) + 1;
}

std::vector<UnitLayout> lay_out(const Model& model, const LayoutOptions& options) {
  const std::vector<NamedTensor> parameters = model.parameters();
  const std::vector<std::string> blocks = model.blocks();
  const at::ScalarType wide = parameters.front().tensor.scalar_type();
  const bool has_common = options.narrow_type.has_value();
  std::vector<std::size_t> block_of_each;
  for (const NamedTensor& p : parameters) block_of_each.push_back(block_of(p.name, blocks));
  std::vector<UnitLayout> units;
  bool is_full = true;
  for (std::size_t block = 0; block <= blocks.size(); ++block) {
    const std::vector<std::size_t> members =
        regular_of(parameters, block_of_each, block, !has_common);
    const bool is_narrow =
        has_common && std::all_of(members.begin(), members.end(), [&](std::size_t i) {
          return model.is_product_weight(parameters[i]);
        });
    const at::ScalarType type = is_narrow ? *options.narrow_type : wide;
    if (!members.empty() && (is_full || units.back().type != type)) {
      units.push_back({.type = type, .first_block = block});
    }
    if (units.empty()) continue;
    units.back().last_block = block;
    for (const std::size_t i : members) add_place(units.back(), parameters, i);
    const auto width = static_cast<std::int64_t>(c10::elementSize(units.back().type));
    is_full = units.back().size * width >= options.unit_bytes;
  }
  if (has_common) {
    UnitLayout common{.type = wide, .last_block = blocks.size(), .is_common = true};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].tensor.dim() < 2) add_place(common, parameters, i);
    }
    if (!common.places.empty()) units.push_back(std::move(common));
  }
  for (UnitLayout& unit : units) unit.size = rounded_up(unit.size, options.world * kAlignment);
  return units;
}

Range shard_of(const UnitLayout& unit, int rank, int world) {
  const std::int64_t size = unit.size / world;
  return {rank * size, (rank + 1) * size};
}

Range overlap(const Place& place, const Range& range) {
  const std::int64_t begin = std::max(place.begin, range.begin);
  return {begin, std::max(begin, std::min(place.begin + place.size, range.end))};
}

}  // namespace falcon::parallel
