#include "parallel/undivided.h"

#include <algorithm>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "parallel/root_state.h"
#include "parallel/unit_layout.h"

namespace falcon::parallel {

Undivided::Undivided(const StrategyContext& context)
    : Strategy(context.model), parameters_(context.model.parameters()) {
  if (context.group != nullptr && context.group->world() > 1) {
    take_state_of_root(*context.group, context.model);
  }
  if (context.narrow_type && context.micro_batches == 1) make_masters(*context.narrow_type);
}

void Undivided::make_masters(at::ScalarType narrow_type) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!model().is_product_weight(parameters_[i])) continue;
    masters_.push_back({i, parameters_[i].tensor.detach(), {}});
  }
  if (masters_.empty()) return;
  // neighbours that are used side by side then need no copy to be joined
  std::stable_partition(masters_.begin(), masters_.end(),
                        [](const Master& master) { return master.wide.dim() > 1; });
  std::vector<std::int64_t> begins;
  std::int64_t size = 0;
  for (const Master& master : masters_) {
    begins.push_back(size);
    size += aligned(master.wide.numel());
  }
  const at::Tensor buffer = at::zeros({size}, masters_.front().wide.options().dtype(narrow_type));
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    const at::Tensor& wide = masters_[i].wide;
    masters_[i].narrow = buffer.as_strided(wide.sizes(), wide.strides(), begins[i]);
    masters_[i].narrow.copy_(wide);
  }
  resume();
}

std::vector<Slice> Undivided::slices() const {
  std::vector<Slice> slices = Strategy::slices();
  for (const Master& master : masters_) {
    slices[master.parameter].values = master.wide;
    slices[master.parameter].copy = master.narrow;
  }
  return slices;
}

void Undivided::gather_model() {
  if (!has_masters()) return;
  drop_gradients();  // they are of the type that the parameters had
  for (const Master& master : masters_) parameters_[master.parameter].tensor.set_data(master.wide);
}

void Undivided::resume() {
  if (!has_masters()) return;
  drop_gradients();
  for (const Master& master : masters_) {
    parameters_[master.parameter].tensor.set_data(master.narrow);
  }
}

HeldBytes Undivided::held() const {
  HeldBytes held = Strategy::held();
  for (const Master& master : masters_) {
    held.masters += static_cast<std::int64_t>(master.wide.nbytes());
  }
  return held;
}

std::map<std::string, std::string> Undivided::choices() const {
  if (!has_masters()) return {};
  return {{"parameters_held", std::string(c10::toString(masters_.front().narrow.scalar_type())) +
                                  " product weights with float32 masters, the rest in float32"}};
}

}  // namespace falcon::parallel
