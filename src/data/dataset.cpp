#include "falconbench/dataset.h"

namespace falcon {

std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
      return 1;
    case ElementType::kInt32:
    case ElementType::kFloat32:
      return 4;
    case ElementType::kInt64:
      break;
  }
  return 8;
}

std::size_t TensorLayout::sample_bytes() const {
  std::size_t bytes = element_bytes(type);
  for (const std::int64_t size : sample_shape) bytes *= static_cast<std::size_t>(size);
  return bytes;
}

std::filesystem::path Dataset::file(std::int64_t) const {
  return {};
}

std::map<std::string, std::int64_t> Dataset::skip_counts_at_scan() const {
  std::map<std::string, std::int64_t> counts;
  for (const SkippedItem& item : skipped_at_scan()) ++counts[item.reason];
  return counts;
}

}  // namespace falcon
