// How the ranks work together: a strategy is applied to a single-device model from outside and is
// told about each step. A new one is a new file and a row in src/parallel/catalog.cpp. Engine code:
// needs Torch.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <falconbench/model.h>
#include <falconbench/run_spec.h>

namespace falcon {

namespace comm {
class ProcessGroup;
}

/// What a strategy is made for. model, group and the callback must outlive it.
struct StrategyContext {
  Model& model;               // on its device, initialised, channels_last or not for good
  comm::ProcessGroup* group;  // nullptr in a world of one
  const ParallelismSpec& options;
  const EngineSpec& engine;
  /// The 16-bit type that products are computed in, where there is one.
  std::optional<at::ScalarType> narrow_type = {};
  std::int64_t micro_batches = 1;  // of a step
  /// Devices of this rank beside the model's, and how a model like it is made there (dp).
  std::vector<at::Device> more_devices = {};
  std::function<std::unique_ptr<Model>(at::Device)> make_replica = {};
  /// To be called in the last backward pass of every step, on its stream, when the last local
  /// gradient has been computed, before what is left of the communication. May be empty.
  std::function<void()> on_gradients_computed = {};
};

/// What one step hands to the communication library.
struct CommunicationCount {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
};

/// What this rank updates of a parameter.
struct Slice {
  NamedTensor parameter;  // the model's
  /// The parameter itself, or what it is rounded from; or a part of that, 1-D, in the order of its
  /// memory.
  at::Tensor values;
  at::Tensor gradient;  // of values, always the same tensor; undefined: the parameter's own
  at::Tensor copy;      // 16-bit, beside values: what the model computes with; undefined: values
};
/// Each parameter whole.
std::vector<Slice> whole_slices(const std::vector<NamedTensor>& parameters);

/// Memory of one rank, by what it holds.
struct HeldBytes {
  std::int64_t parameters = 0;  // what the model computes with
  std::int64_t gradients = 0;   // kept until the update
  std::int64_t masters = 0;     // float32 copies that are updated in place of 16-bit parameters
  std::int64_t buffers = 0;     // parameters and gradients under way, for the exchange
};

/// How the trainer goes through its steps. This class is one rank that has everything and talks to
/// nobody. REQUIRES: made, used and destroyed with the training stream current; the same calls on
/// every rank.
class Strategy {
 public:
  explicit Strategy(Model& model) : model_(model) {}
  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  // A step: before_step(); for each micro-batch before_forward(), loss(), before_backward(), the
  // backward pass, after_backward(). Then the gradients of all slices are there.
  virtual void before_step() { drop_gradients(); }
  virtual void before_forward() {}
  /// The loss of a forward pass, a scalar on the device of the model.
  virtual at::Tensor loss(const Batch& batch);
  virtual void before_backward(bool /*is_last*/) {}
  virtual void after_backward(bool /*is_last*/) {}
  /// Forgets a step that was left half-way.
  virtual void restart() { drop_gradients(); }
  /// Every parameter without one: the backward pass stores instead of adding.
  void drop_gradients();

  /// What this rank updates; the same tensors for ever.
  virtual std::vector<Slice> slices() const;
  /// Whether a slice can be a part of a parameter, and another rank has the rest.
  virtual bool is_sharded() const { return false; }
  /// Of all ranks, where their slices differ; else nothing is to be done.
  virtual void sum(const at::Tensor& /*tensor*/) {}
  /// Collective. parts: one beside each slice. Gives one for each parameter of the model, in its
  /// shape, in the order of parameters(); of shards, on the CPU, and on rank 0 alone.
  virtual std::vector<at::Tensor> whole(const std::vector<at::Tensor>& parts) { return parts; }
  /// The other way round; no collective: every rank gives all.
  virtual void split(const std::vector<at::Tensor>& whole, const std::vector<at::Tensor>& parts);
  /// Collective, between steps: until resume() the model has all its parameters, in the type that
  /// they are updated in, and no step is to be made.
  virtual void gather_model() {}
  virtual void resume() {}

  /// Of the last complete step.
  virtual CommunicationCount last_step() const { return {}; }
  /// How long the communication library worked for each step that is over, in order; empty when
  /// nothing is exchanged.
  virtual std::vector<double> busy_ms() const { return {}; }
  /// Whether on_gradients_computed is called; if not, a backward pass ends where its computation
  /// ends.
  virtual bool marks_gradients() const { return false; }
  /// After a step, before gather_model().
  virtual HeldBytes held() const;
  /// What was decided, for the report: name -> text.
  virtual std::map<std::string, std::string> choices() const { return {}; }

 protected:
  Model& model() const { return model_; }

 private:
  Model& model_;
};

/// Collective: afterwards all ranks hold rank 0's parameters and buffers. name is a catalog word
/// (none, dp, ddp, sharded); throws Error(kUsage) for another one, or for none in a world above 1.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const StrategyContext& context);

}  // namespace falcon
