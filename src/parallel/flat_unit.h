// The tensors of a unit (parallel/unit_layout.h) on one rank.
#pragma once
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <falconbench/strategy.h>

#include "comm/process_group.h"
#include "parallel/unit_layout.h"

namespace falcon::parallel {

class FlatUnit {
 public:
  /// parameters: all of the model. Keeps this rank's shard of their values.
  FlatUnit(UnitLayout layout, std::vector<NamedTensor> parameters, const comm::ProcessGroup& group);

  const UnitLayout& layout() const { return layout_; }
  const Range& shard() const { return shard_; }

  /// The parameters are views of flat() from now on, and part() is its place in there or, where
  /// flat() is not always held, memory of its own.
  void hold_parameters(bool always);
  /// Where flat() is not always held: gives it memory, of unspecified values; takes it away. What
  /// else refers to the parameters, as the backward pass does, gets and loses it with them.
  void acquire() const;
  void release() const;
  /// The gradients' shard is `part`: 1-D, of the type of master().
  void hold_gradients(at::Tensor part) { gradient_part_ = std::move(part); }

  /// 1-D, of layout().type and layout().size.
  const at::Tensor& flat() const { return flat_; }
  /// This rank's shard as it is gathered.
  const at::Tensor& part() const { return part_; }
  /// The same as it is updated: part() itself, or a wider copy.
  const at::Tensor& master() const { return master_; }
  bool has_copy() const { return part_.scalar_type() != master_.scalar_type(); }
  const at::Tensor& gradient_part() const { return gradient_part_; }
  at::Tensor shard_in(const at::Tensor& flat) const {
    return flat.narrow(0, shard_.begin, shard_.size());
  }

  /// Takes the gradients of a backward pass from the parameters, which are left without one, into
  /// `flat`, of layout().size, or adds them. Throws std::logic_error when a parameter has none.
  void collect_gradients(const at::Tensor& flat, bool adds) const;
  /// The parameters become views of `flat`, 1-D of layout().size: flat(), or another that holds
  /// their values in the master's type.
  void move_parameters(const at::Tensor& flat) const;

  /// Of each place that has elements in the shard, in order.
  std::vector<Slice> slices() const;
  /// parts: beside slices(); the shard with them in their places.
  at::Tensor shard_of_parts(const std::vector<at::Tensor>& parts, std::size_t first) const;
  /// The parameter of places[i] in its own shape, as it lies in `flat`.
  at::Tensor view(const at::Tensor& flat, std::size_t i) const;
  /// What of its values (in its shape, anywhere) the shard holds, in the order of its memory.
  at::Tensor piece_of(const at::Tensor& values, std::size_t i) const;

 private:
  UnitLayout layout_;
  std::vector<NamedTensor> parameters_;  // beside layout_.places
  Range shard_;
  at::Tensor flat_, part_, master_;
  at::Tensor gradient_part_;
};

}  // namespace falcon::parallel
