#include "models/weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string_view>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <falconbench/errors.h>

#include "weights/match.h"

namespace falcon::models {
namespace {

using weights::DType;

constexpr std::size_t kMaxNames = 100;

at::ScalarType scalar_type(DType type) {
  switch (type) {
    case DType::kF16:
      return at::kHalf;
    case DType::kBF16:
      return at::kBFloat16;
    case DType::kI64:
      return at::kLong;
    case DType::kF32:
      break;
  }
  return at::kFloat;
}

DType file_type(at::ScalarType type) {
  if (!at::isFloatingType(type)) return DType::kI64;
  if (type == at::kHalf) return DType::kF16;
  return type == at::kBFloat16 ? DType::kBF16 : DType::kF32;
}

std::vector<weights::TensorInfo> infos_of(const std::vector<NamedTensor>& tensors) {
  std::vector<weights::TensorInfo> infos;
  for (const NamedTensor& entry : tensors) {
    infos.push_back(
        {entry.name, file_type(entry.tensor.scalar_type()), entry.tensor.sizes().vec()});
  }
  return infos;
}

std::vector<std::string> first_of(const std::vector<std::string>& names) {
  return {names.begin(),
          names.begin() + static_cast<std::ptrdiff_t>(std::min(kMaxNames, names.size()))};
}

}  // namespace

at::Tensor read_tensor(const weights::SafetensorsFile& file, std::size_t i) {
  const weights::TensorInfo& info = file.tensors()[i];
  const at::Tensor tensor = at::empty(info.shape, at::TensorOptions(scalar_type(info.type)));
  const std::span<const std::byte> bytes = file.bytes(i);
  if (!bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

WeightsRecord load_weights(Model& model, const weights::SafetensorsFile& file) {
  const std::vector<NamedTensor> state = model.state();
  const weights::Match found = weights::match(file, infos_of(state));
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (found.sources[i]) state[i].tensor.copy_(read_tensor(file, *found.sources[i]));
  }
  WeightsRecord record;
  record.source = file.path();
  record.tensors = static_cast<std::int64_t>(state.size());
  record.missing = static_cast<std::int64_t>(found.missing.size());
  record.unused = static_cast<std::int64_t>(found.unused.size());
  record.loaded = record.tensors - record.missing;
  record.missing_names = first_of(found.missing);
  record.unused_names = first_of(found.unused);
  return record;
}

void load_exactly(const weights::SafetensorsFile& file, const std::vector<NamedTensor>& tensors) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < file.tensors().size(); ++i) places[file.tensors()[i].name] = i;
  std::vector<Fault> faults;
  const auto fault = [&](const std::string& name, const std::string& message) {
    faults.push_back({.source = file.path(), .key = name, .message = message});
  };
  for (const NamedTensor& entry : tensors) {
    const auto place = places.find(entry.name);
    if (place == places.end()) {
      fault(entry.name, "missing");
    } else if (file.tensors()[place->second].shape != entry.tensor.sizes().vec()) {
      fault(entry.name, "has shape " + weights::shape_text(file.tensors()[place->second].shape) +
                            ", expected " + weights::shape_text(entry.tensor.sizes()));
    }
  }
  if (!faults.empty()) throw InputError(std::move(faults));
  const at::NoGradGuard no_grad;
  for (const NamedTensor& entry : tensors) {
    entry.tensor.copy_(read_tensor(file, places.at(entry.name)));
  }
}

std::int64_t save_tensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                          const std::map<std::string, std::string>& metadata,
                          const std::function<void()>& on_tensor) {
  std::map<std::string, at::Tensor> by_name;
  for (const NamedTensor& entry : tensors) by_name[entry.name] = entry.tensor.detach();
  weights::SafetensorsWriter writer(path, infos_of(tensors), metadata);
  for (const weights::TensorInfo& info : writer.tensors()) {
    const at::Tensor host = by_name.at(info.name).to(at::kCPU, scalar_type(info.type)).contiguous();
    writer.write({static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()});
    if (on_tensor) on_tensor();
  }
  return writer.commit();
}

}  // namespace falcon::models
