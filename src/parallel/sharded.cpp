#include "parallel/sharded.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <falconbench/errors.h>

#include "parallel/catalog.h"
#include "parallel/root_state.h"
#include "parallel/strategies.h"

namespace falcon::parallel {
namespace {

constexpr std::size_t kMaxReducing = 2;

std::int64_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::int64_t>(tensor.nbytes());
}

/// Hands a tensor on, and in the backward pass says when all that came after it is done: of the
/// operations that can be next, autograd takes the one that was recorded last.
class Boundary : public torch::autograd::Function<Boundary> {
 public:
  using Callback = std::function<void()>;
  struct Holder : torch::CustomClassHolder {
    explicit Holder(Callback given) : callback(std::move(given)) {}
    Callback callback;
  };

  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const c10::intrusive_ptr<Holder>& holder) {
    context->saved_data["callback"] = c10::IValue::make_capsule(holder);
    return at::alias(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto capsule = context->saved_data["callback"].toCapsule();
    static_cast<Holder*>(capsule.get())->callback();
    return {gradients[0], at::Tensor()};
  }
};

}  // namespace

Sharded::Sharded(const StrategyContext& context)
    : Strategy(context.model),
      group_(*context.group),
      exchange_(group_),
      stage_(context.options.sharded.stage),
      unit_mb_(context.options.sharded.unit_mb),
      narrow_type_(context.narrow_type),
      exchanged_(context.engine.gradient_dtype),
      micro_batches_(context.micro_batches),
      on_gradients_computed_(context.on_gradients_computed) {
  take_state_of_root(group_, model());
  make_units(context);
  place_gradients();
  count_held();
  watch_blocks();
}

void Sharded::watch_blocks() {
  model().set_block_entry(
      [this](std::size_t block, const at::Tensor& input) { return entered(block, input); });
}

Sharded::~Sharded() {
  model().set_block_entry({});
}

void Sharded::make_units(const StrategyContext& context) {
  LayoutOptions options;
  options.world = group_.world();
  options.unit_bytes = std::llround(unit_mb_ * 1024 * 1024);
  options.narrow_type = context.narrow_type;
  const std::vector<NamedTensor> parameters = model().parameters();
  for (UnitLayout& layout : lay_out(model(), options)) {
    if (!layout.is_common) ++num_regular_;
    Unit unit{.memory = FlatUnit(std::move(layout), parameters, group_)};
    unit.memory.hold_parameters(/*always=*/!is_dropped(unit));
    units_.push_back(std::move(unit));
  }
}

void Sharded::place_gradients() {
  const at::TensorOptions wide = units_.front().memory.master().options();
  const at::ScalarType wide_type = units_.front().memory.master().scalar_type();
  reduced_type_ = exchanged_type(exchanged_).value_or(wide_type);
  for (Unit& unit : units_) {
    FlatUnit& memory = unit.memory;
    if (stage_ == 1) {
      unit.gradients = at::zeros({memory.layout().size}, wide.dtype(reduced_type_));
    }
    const bool is_in_place = stage_ == 1 && reduced_type_ == wide_type;
    memory.hold_gradients(is_in_place ? memory.shard_in(unit.gradients)
                                      : at::zeros({memory.shard().size()}, wide));
  }
}

void Sharded::count_held() {
  for (const Unit& unit : units_) {
    const FlatUnit& memory = unit.memory;
    held_.parameters += bytes_of(stage_ == 3 ? memory.part() : memory.flat());
    if (memory.has_copy()) held_.masters += bytes_of(memory.master());
    const bool is_whole = unit.gradients.defined();
    if (is_whole) held_.gradients += bytes_of(unit.gradients);
    if (!is_whole || !memory.gradient_part().is_alias_of(unit.gradients)) {
      held_.gradients += bytes_of(memory.gradient_part());
    }
    if (stage_ == 3 && memory.layout().is_common) {
      count_buffer(bytes_of(memory.flat()) - bytes_of(memory.part()));
    }
  }
}

void Sharded::count_buffer(std::int64_t bytes) {
  buffer_bytes_ += bytes;
  held_.buffers = std::max(held_.buffers, buffer_bytes_);
}

// A step. -----------------------------------------------------------------------------------------

void Sharded::before_step() {
  const at::NoGradGuard no_grad;
  passes_ = 0;
  exchange_.begin_step();
  // the common unit, which every block needs, before all others
  for (std::size_t i = num_regular_; i < units_.size(); ++i) start_gather(units_[i], nullptr);
  if (stage_ == 3) return;
  for (std::size_t i = 0; i < num_regular_; ++i) start_gather(units_[i], nullptr);
}

void Sharded::before_forward() {
  need(0, Pass::kForward);
}

at::Tensor Sharded::entered(std::size_t block, const at::Tensor& input) {
  need(block, Pass::kForward);
  if (!input.requires_grad()) return input;
  return Boundary::apply(input, c10::make_intrusive<Boundary::Holder>([this, block] {
                           need(block - 1, Pass::kBackward);
                           block_done(block);
                         }));
}

/// The parameters of the block are there, and those of the unit after it on their way.
void Sharded::need(std::size_t block, Pass pass) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    Unit& unit = units_[i];
    const UnitLayout& layout = unit.memory.layout();
    if (block < layout.first_block || layout.last_block < block) continue;
    if (!unit.is_gathered) start_gather(unit, nullptr);
    if (unit.gather) unit.gather->wait();
    unit.gather.reset();
    if (!is_dropped(unit)) continue;
    const bool has_next = pass == Pass::kForward ? i + 1 < num_regular_ : i > 0;
    if (!has_next) continue;
    Unit& next = units_[pass == Pass::kForward ? i + 1 : i - 1];
    if (!next.is_gathered) start_gather(next, &unit);
  }
}

/// In stage 3 all others but `kept` are dropped: their blocks are done.
void Sharded::start_gather(Unit& unit, const Unit* kept) {
  if (is_dropped(unit)) {
    for (Unit& other : units_) {
      if (&other != kept && is_dropped(other)) drop_parameters(other);
    }
    unit.memory.acquire();
    count_buffer(bytes_of(unit.memory.flat()));
  }
  unit.gather = exchange_.all_gather(unit.memory.flat(), unit.memory.part());
  unit.is_gathered = true;
}

/// They have to be gathered again; in stage 3 they are not held either.
void Sharded::drop_parameters(Unit& unit) {
  if (is_dropped(unit) && unit.is_gathered) {
    unit.memory.release();
    count_buffer(-bytes_of(unit.memory.flat()));
  }
  unit.is_gathered = false;
}

/// In the backward pass: units that begin with this block have all their gradients.
void Sharded::block_done(std::size_t block) {
  const at::NoGradGuard no_grad;
  for (Unit& unit : units_) {
    if (unit.memory.layout().first_block == block) reduce(unit);
  }
}

void Sharded::reduce(Unit& unit) {
  const FlatUnit& memory = unit.memory;
  take_reduced(unit);  // of the micro-batch before
  while (reducing_.size() >= kMaxReducing) take_reduced(*reducing_.front());
  if (stage_ > 1) {
    unit.gradients =
        at::empty({memory.layout().size}, memory.master().options().dtype(reduced_type_));
    count_buffer(bytes_of(unit.gradients));
  }
  memory.collect_gradients(unit.gradients, /*adds=*/stage_ == 1 && passes_ > 0);
  if (stage_ == 1 && !is_last_pass_) return;
  unit.is_added = stage_ > 1 && passes_ > 0;
  const bool is_direct = !unit.is_added && memory.gradient_part().scalar_type() == reduced_type_;
  const at::Tensor part = is_direct ? memory.gradient_part() : memory.shard_in(unit.gradients);
  unit.scatter = exchange_.reduce_scatter(part, unit.gradients);
  reducing_.push_back(&unit);
}

/// The shard has what was reduced last; nothing is under way for this unit.
void Sharded::take_reduced(Unit& unit) {
  if (!unit.scatter) return;
  unit.scatter->wait();
  unit.scatter.reset();
  std::erase(reducing_, &unit);
  const FlatUnit& memory = unit.memory;
  const at::Tensor reduced = memory.shard_in(unit.gradients);
  if (unit.is_added) {
    memory.gradient_part().add_(reduced);
  } else if (memory.gradient_part().scalar_type() != reduced_type_) {
    memory.gradient_part().copy_(reduced);
  }
  if (stage_ == 1) return;
  count_buffer(-bytes_of(unit.gradients));
  unit.gradients.reset();
}

void Sharded::after_backward(bool is_last) {
  const at::NoGradGuard no_grad;
  if (is_last && on_gradients_computed_) on_gradients_computed_();
  block_done(0);
  if (is_last) {
    while (!reducing_.empty()) take_reduced(*reducing_.front());
    for (Unit& unit : units_) drop_parameters(unit);
    exchange_.end_step();
  }
  ++passes_;
}

void Sharded::restart() {
  for (Unit& unit : units_) {
    unit.gather.reset();
    unit.scatter.reset();
    drop_parameters(unit);
    if (stage_ == 1 || !unit.gradients.defined()) continue;
    count_buffer(-bytes_of(unit.gradients));
    unit.gradients.reset();
  }
  reducing_.clear();
  drop_gradients();
}

// Slices. -----------------------------------------------------------------------------------------

std::vector<Slice> Sharded::slices() const {
  std::vector<Slice> all;
  for (const Unit& unit : units_) {
    for (Slice& slice : unit.memory.slices()) all.push_back(std::move(slice));
  }
  return all;
}

void Sharded::sum(const at::Tensor& tensor) {
  group_.all_reduce(tensor, comm::Reduction::kSum);
}

std::vector<at::Tensor> Sharded::whole(const std::vector<at::Tensor>& parts) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> all(group_.rank() == 0 ? model().parameters().size() : 0);
  std::size_t first = 0;
  for (const Unit& unit : units_) {
    const FlatUnit& memory = unit.memory;
    const at::Tensor shard = memory.shard_of_parts(parts, first);
    first += memory.slices().size();
    const at::Tensor flat = at::empty({memory.layout().size}, shard.options());
    exchange_.all_gather(flat, shard)->wait();
    if (group_.rank() != 0) continue;
    const at::Tensor on_host = flat.to(at::kCPU);
    for (std::size_t i = 0; i < memory.layout().places.size(); ++i) {
      all[memory.layout().places[i].parameter] = memory.view(on_host, i);
    }
  }
  return all;
}

void Sharded::split(const std::vector<at::Tensor>& whole, const std::vector<at::Tensor>& parts) {
  const at::NoGradGuard no_grad;
  std::size_t next = 0;
  for (const Unit& unit : units_) {
    const std::vector<Place>& places = unit.memory.layout().places;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (overlap(places[i], unit.memory.shard()).size() == 0) continue;
      parts[next++].copy_(unit.memory.piece_of(whole[places[i].parameter], i));
    }
  }
}

void Sharded::gather_model() {
  const at::NoGradGuard no_grad;
  model().set_block_entry({});
  for (Unit& unit : units_) {
    const FlatUnit& memory = unit.memory;
    const at::Tensor flat = at::empty({memory.layout().size}, memory.master().options());
    exchange_.all_gather(flat, memory.master())->wait();
    memory.move_parameters(flat);
  }
}

void Sharded::resume() {
  for (const Unit& unit : units_) unit.memory.move_parameters(unit.memory.flat());
  watch_blocks();
}

CommunicationCount Sharded::last_step() const {
  const comm::ReductionCount count = exchange_.last_step();
  return {count.bytes, count.calls};
}

std::map<std::string, std::string> Sharded::choices() const {
  std::map<std::string, std::string> choices;
  choices["division"] =
      "stage " + std::to_string(stage_) + ", " + std::to_string(units_.size()) + " units";
  choices["gradient_reduction"] =
      group_.backend() == comm::Backend::kNccl
          ? "reduce-scatter of each unit, overlapped with the backward pass"
          : "all-reduce of each unit, of which a rank takes its part";
  choices["gradients_exchanged"] = exchanged_;
  choices["parameters_held"] =
      narrow_type_ ? std::string(c10::toString(*narrow_type_)) +
                         " product weights with sharded float32 masters, the rest in float32"
                   : "in the type that they are updated in";
  if (micro_batches_ > 1) {
    choices["gradients_accumulated"] = stage_ == 1 ? "whole, reduced with the last micro-batch"
                                                   : "in shards, reduced with every micro-batch";
  }
  return choices;
}

std::unique_ptr<Strategy> make_sharded(const StrategyContext& context) {
  if (context.group == nullptr || context.group->world() == 1) {
    throw Error(ExitCode::kUsage, "parallelism sharded needs more than one device");
  }
  return std::make_unique<Sharded>(context);
}

}  // namespace falcon::parallel
