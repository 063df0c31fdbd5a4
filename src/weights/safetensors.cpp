#include "weights/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "base/json.h"
#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::weights {
namespace {

using base::Value;

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // as the reference implementation
constexpr std::string_view kMetadata = "__metadata__";

struct TypeRow {
  DType type;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kTypes = {
    TypeRow{DType::kF32, "F32", 4},
    TypeRow{DType::kF16, "F16", 2},
    TypeRow{DType::kBF16, "BF16", 2},
    TypeRow{DType::kI64, "I64", 8},
};

const TypeRow& row_of(DType type) {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [type](const TypeRow& row) { return row.type == type; });
}

std::string known_types() {
  std::vector<std::string> names;
  for (const TypeRow& row : kTypes) names.emplace_back(row.name);
  return base::join_or(names);
}

/// Product of the sizes times the bytes of an element; nullopt when it does not fit.
std::optional<std::size_t> bytes_of_shape(std::span<const std::int64_t> shape, DType type) {
  std::size_t bytes = bytes_of(type);
  // a 0 makes the product 0 whatever the others are
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace

std::string_view name_of(DType type) {
  return row_of(type).name;
}

std::size_t bytes_of(DType type) {
  return row_of(type).bytes;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

/// Fills a SafetensorsFile from its bytes.
class SafetensorsFile::HeaderReader {
 public:
  explicit HeaderReader(SafetensorsFile& file) : file_(file) {}

  void read();

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::kUsage, base::printable(file_.path_, 400) + ": " + why);
  }
  [[noreturn]] void refuse_tensor(std::string_view name, const std::string& why) const {
    refuse("tensor \"" + base::printable(name, 200) + "\": " + why);
  }
  std::string_view header() const;
  void read_metadata(const Value& value);
  void read_tensor(const std::string& name, const Value& value);
  const Value& member(const std::string& name, const Value& tensor, std::string_view key) const;
  DType type_of(const std::string& name, const Value& value) const;
  std::vector<std::int64_t> sizes_of(const std::string& name, const Value& value,
                                     std::string_view key) const;
  void check_cover() const;

  SafetensorsFile& file_;
};

void SafetensorsFile::HeaderReader::read() {
  const std::string_view text = header();
  const Value root = base::parse_json(text, file_.path_);
  file_.data_ = file_.file_.bytes().subspan(kLengthBytes + text.size());
  for (const Value::Member& entry : root.as_object()) {
    if (entry.name == kMetadata) {
      read_metadata(entry.value);
    } else {
      read_tensor(entry.name, entry.value);
    }
  }
  check_cover();
}

std::string_view SafetensorsFile::HeaderReader::header() const {
  const std::span<const std::byte> bytes = file_.file_.bytes();
  if (bytes.size() < kLengthBytes) {
    refuse("is no safetensors file: it has " + std::to_string(bytes.size()) +
           " bytes, the length of its header alone takes 8");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    refuse("is no safetensors file, or damaged: its header would have " + std::to_string(length) +
           " bytes, at most " + std::to_string(kMaxHeaderBytes) + " are accepted");
  }
  if (length > bytes.size() - kLengthBytes) {
    refuse("is cut: its header has " + std::to_string(length) + " bytes, but only " +
           std::to_string(bytes.size() - kLengthBytes) + " follow");
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  if (!text.starts_with('{')) refuse("is no safetensors file: its header does not start with {");
  return text;
}

void SafetensorsFile::HeaderReader::read_metadata(const Value& value) {
  if (!value.is_object()) refuse("__metadata__ is " + value.kind_text() + ", expected a map");
  for (const Value::Member& entry : value.as_object()) {
    if (!entry.value.is_text()) {
      refuse("__metadata__: \"" + base::printable(entry.name) + "\" is " + entry.value.kind_text() +
             ", expected text");
    }
    file_.metadata_[entry.name] = entry.value.as_text();
  }
}

const Value& SafetensorsFile::HeaderReader::member(const std::string& name, const Value& tensor,
                                                   std::string_view key) const {
  const Value* value = tensor.find(key);
  if (value == nullptr) refuse_tensor(name, "has no " + std::string(key));
  return *value;
}

DType SafetensorsFile::HeaderReader::type_of(const std::string& name, const Value& value) const {
  if (!value.is_text()) refuse_tensor(name, "dtype is " + value.kind_text() + ", expected text");
  const auto row = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& known) {
    return known.name == value.as_text();
  });
  if (row == kTypes.end()) {
    refuse_tensor(name, "dtype " + base::printable(value.as_text()) +
                            " is not read, accepted: " + known_types());
  }
  return row->type;
}

std::vector<std::int64_t> SafetensorsFile::HeaderReader::sizes_of(const std::string& name,
                                                                  const Value& value,
                                                                  std::string_view key) const {
  if (!value.is_list()) {
    refuse_tensor(name, std::string(key) + " is " + value.kind_text() + ", expected a list");
  }
  std::vector<std::int64_t> sizes;
  for (const Value& size : value.as_list()) {
    if (!size.is_integer() || size.as_integer() < 0) {
      refuse_tensor(name, std::string(key) + " holds what is no whole number from 0");
    }
    sizes.push_back(size.as_integer());
  }
  return sizes;
}

void SafetensorsFile::HeaderReader::read_tensor(const std::string& name, const Value& value) {
  if (!value.is_object()) refuse_tensor(name, "is " + value.kind_text() + ", expected a map");
  for (const Value::Member& entry : value.as_object()) {
    if (entry.name == "dtype" || entry.name == "shape" || entry.name == "data_offsets") continue;
    refuse_tensor(name, "has an unknown key \"" + base::printable(entry.name) +
                            "\", expected dtype, shape and data_offsets");
  }
  TensorInfo tensor;
  tensor.name = name;
  tensor.type = type_of(name, member(name, value, "dtype"));
  tensor.shape = sizes_of(name, member(name, value, "shape"), "shape");
  const std::vector<std::int64_t> offsets =
      sizes_of(name, member(name, value, "data_offsets"), "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    refuse_tensor(name, "data_offsets must be [begin, end] with begin <= end");
  }
  const Place place{static_cast<std::size_t>(offsets[0]), static_cast<std::size_t>(offsets[1])};
  if (place.end > file_.data_.size()) {
    refuse_tensor(name, "ends at byte " + std::to_string(place.end) + " of the data, which has " +
                            std::to_string(file_.data_.size()) + ": the file is cut or damaged");
  }
  const std::optional<std::size_t> bytes = bytes_of_shape(tensor.shape, tensor.type);
  if (!bytes || *bytes != place.end - place.begin) {
    refuse_tensor(name, "shape " + shape_text(tensor.shape) + " of " +
                            std::string(name_of(tensor.type)) + " takes " +
                            (bytes ? std::to_string(*bytes) : "too many") + " bytes, but it has " +
                            std::to_string(place.end - place.begin));
  }
  file_.tensors_.push_back(std::move(tensor));
  file_.places_.push_back(place);
}

/// Every byte of the data belongs to one tensor.
void SafetensorsFile::HeaderReader::check_cover() const {
  std::vector<std::size_t> order(file_.places_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    const Place& one = file_.places_[a];
    const Place& other = file_.places_[b];
    return one.begin != other.begin ? one.begin < other.begin : one.end < other.end;
  });
  std::size_t covered = 0;
  for (const std::size_t i : order) {
    const Place& place = file_.places_[i];
    if (place.begin != covered) {
      refuse_tensor(file_.tensors_[i].name,
                    "begins at byte " + std::to_string(place.begin) + " of the data, but the one " +
                        (place.begin < covered ? "it overlaps" : "before it") + " ends at byte " +
                        std::to_string(covered));
    }
    covered = place.end;
  }
  if (covered != file_.data_.size()) {
    refuse("holds " + std::to_string(file_.data_.size() - covered) +
           " bytes at its end that belong to no tensor");
  }
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path), file_(path) {
  HeaderReader(*this).read();
}

}  // namespace falcon::weights
