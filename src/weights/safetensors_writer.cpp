#include <algorithm>
#include <cstring>

#include "base/json.h"
#include "falconbench/errors.h"
#include "weights/safetensors.h"

namespace falcon::weights {
namespace {

using base::Value;

constexpr std::size_t kAlignment = 8;

std::int64_t bytes_of(const TensorInfo& tensor) {
  auto bytes = static_cast<std::int64_t>(bytes_of(tensor.type));
  for (const std::int64_t size : tensor.shape) bytes *= size;
  return bytes;
}

const std::string& with_parent_folders(const std::string& path) {
  base::make_parent_folders(path);
  return path;
}

std::vector<TensorInfo> larger_types_first(std::vector<TensorInfo> tensors) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return bytes_of(a.type) > bytes_of(b.type);
  });
  return tensors;
}

std::string header_of(const std::vector<TensorInfo>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  Value header = Value::object();
  if (!metadata.empty()) {
    Value map = Value::object();
    for (const auto& [key, text] : metadata) map.set(key, text);
    header.as_object().push_back({"__metadata__", std::move(map), {}});
  }
  std::int64_t begin = 0;
  for (const TensorInfo& tensor : tensors) {
    const std::int64_t end = begin + bytes_of(tensor);
    Value shape = Value::list();
    for (const std::int64_t size : tensor.shape) shape.push_back(size);
    Value entry = Value::object();
    entry.set("dtype", name_of(tensor.type));
    entry.set("shape", std::move(shape));
    entry.set("data_offsets", Value(Value::List{begin, end}));
    header.as_object().push_back({tensor.name, std::move(entry), {}});
    begin = end;
  }
  std::string text = base::to_json(header);
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<TensorInfo> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : tensors_(larger_types_first(std::move(tensors))), file_(with_parent_folders(path)) {
  const std::string header = header_of(tensors_, metadata);
  const std::uint64_t length = header.size();
  char prefix[sizeof length];
  std::memcpy(prefix, &length, sizeof length);
  file_.write({prefix, sizeof prefix});
  file_.write(header);
  file_bytes_ = static_cast<std::int64_t>(sizeof prefix + header.size());
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) {
  const bool is_expected = next_ < tensors_.size() &&
                           bytes_of(tensors_[next_]) == static_cast<std::int64_t>(bytes.size());
  if (!is_expected) {
    throw Error(ExitCode::kInternal, "a tensor of " + std::to_string(bytes.size()) +
                                         " bytes was written that the header does not announce");
  }
  file_.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  file_bytes_ += static_cast<std::int64_t>(bytes.size());
  next_ += 1;
}

std::int64_t SafetensorsWriter::commit() {
  if (next_ != tensors_.size()) {
    throw Error(ExitCode::kInternal, "tensor " + tensors_[next_].name + " was not written");
  }
  file_.commit();
  return file_bytes_;
}

}  // namespace falcon::weights
