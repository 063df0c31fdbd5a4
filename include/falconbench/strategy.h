// How the ranks work together: a strategy is applied to a single-device model from outside and is
// told about each step. A new one is a new file and a row in src/parallel/catalog.cpp. Engine code:
// needs Torch.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
  /// To be called in every backward pass on its stream when the last local gradient has been
  /// computed, before what is left of the communication. May be empty.
  std::function<void()> on_gradients_computed;
};

/// What one step hands to the communication library.
struct CommunicationCount {
  std::int64_t bytes = 0;
  std::int64_t calls = 0;
};

/// REQUIRES: made, used and destroyed with the training stream current; the same calls on every
/// rank.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual void before_forward() = 0;
  virtual void before_backward() = 0;
  /// Of the last complete step.
  virtual CommunicationCount last_step() const = 0;
  /// How long the communication library worked for each step that is over, in order; empty when
  /// nothing is exchanged.
  virtual std::vector<double> busy_ms() const = 0;
  /// Whether on_gradients_computed is called; if not, a backward pass ends where its computation
  /// ends.
  virtual bool marks_gradients() const = 0;
  /// What was decided, for the report: name -> text.
  virtual std::map<std::string, std::string> choices() const = 0;
};

/// Collective: afterwards all ranks hold rank 0's parameters and buffers. name is a catalog word
/// (none, ddp); throws Error(kUsage) for another one, or for none in a world above 1.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const StrategyContext& context);

}  // namespace falcon
