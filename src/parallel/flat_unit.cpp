#include "parallel/flat_unit.h"

#include <stdexcept>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/zeros.h>

namespace falcon::parallel {

FlatUnit::FlatUnit(UnitLayout layout, std::vector<NamedTensor> parameters,
                   const comm::ProcessGroup& group)
    : layout_(std::move(layout)), shard_(shard_of(layout_, group.rank(), group.world())) {
  const at::NoGradGuard no_grad;
  for (const Place& place : layout_.places) parameters_.push_back(parameters[place.parameter]);
  const at::TensorOptions options = parameters_.front().tensor.options().requires_grad(false);
  const at::Tensor all = at::zeros({layout_.size}, options);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    view(all, i).copy_(parameters_[i].tensor);
  }
  master_ = shard_in(all).clone();
}

at::Tensor FlatUnit::view(const at::Tensor& flat, std::size_t i) const {
  const at::Tensor& like = parameters_[i].tensor;
  return flat.as_strided(like.sizes(), like.strides(),
                         flat.storage_offset() + layout_.places[i].begin);
}

void FlatUnit::hold_parameters(bool always) {
  const at::NoGradGuard no_grad;
  flat_ = at::zeros({layout_.size}, master_.options().dtype(layout_.type));
  const bool is_same_type = layout_.type == master_.scalar_type();
  if (always) {
    part_ = shard_in(flat_);
  } else {
    part_ = is_same_type ? master_ : at::zeros({shard_.size()}, flat_.options());
  }
  part_.copy_(master_);
  if (is_same_type) master_ = part_;
  move_parameters(flat_);
  if (!always) release();
}

void FlatUnit::acquire() const {
  const at::Storage& storage = flat_.storage();
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(
      storage.allocator()->allocate(storage.nbytes()));
}

void FlatUnit::release() const {
  flat_.storage().unsafeGetStorageImpl()->set_data_ptr_noswap(at::DataPtr(nullptr, flat_.device()));
}

void FlatUnit::move_parameters(const at::Tensor& flat) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].tensor.mutable_grad().reset();
    parameters_[i].tensor.set_data(view(flat, i));
  }
}

void FlatUnit::collect_gradients(const at::Tensor& flat, bool adds) const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> places, gradients;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    places.push_back(view(flat, i));
    gradients.push_back(parameters_[i].tensor.grad());
    if (!gradients.back().defined()) {
      throw std::logic_error("no gradient for " + parameters_[i].name + " when its block was done");
    }
  }
  if (adds) {
    at::_foreach_add_(places, gradients);
  } else {
    at::_foreach_copy_(places, gradients);
  }
  for (const NamedTensor& parameter : parameters_) parameter.tensor.mutable_grad().reset();
}

std::vector<Slice> FlatUnit::slices() const {
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Range range = overlap(layout_.places[i], shard_);
    if (range.size() == 0) continue;
    const auto piece = [&](const at::Tensor& shard) {
      return shard.narrow(0, range.begin - shard_.begin, range.size());
    };
    slices.push_back({parameters_[i], piece(master_), piece(gradient_part_),
                      has_copy() ? piece(part_) : at::Tensor()});
  }
  return slices;
}

at::Tensor FlatUnit::shard_of_parts(const std::vector<at::Tensor>& parts, std::size_t first) const {
  at::Tensor shard = at::zeros({shard_.size()}, master_.options());
  for (const Place& place : layout_.places) {
    const Range range = overlap(place, shard_);
    if (range.size() == 0) continue;
    shard.narrow(0, range.begin - shard_.begin, range.size()).copy_(parts[first++]);
  }
  return shard;
}

at::Tensor FlatUnit::piece_of(const at::Tensor& values, std::size_t i) const {
  const Place& place = layout_.places[i];
  const Range range = overlap(place, shard_);
  const at::Tensor& like = parameters_[i].tensor;
  const at::Tensor ordered = at::empty_strided(like.sizes(), like.strides(), values.options());
  return ordered.copy_(values)
      .as_strided({place.size}, {1})
      .narrow(0, range.begin - place.begin, range.size());
}

}  // namespace falcon::parallel
