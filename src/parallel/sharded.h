// The strategy that divides what the ranks of ddp all have: optimizer state (stage 1), gradients
// (2), parameters (3), as ZeRO (Rajbhandari et al. 2020) does.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <falconbench/strategy.h>

#include "comm/process_group.h"
#include "comm/shard_exchange.h"
#include "parallel/flat_unit.h"

namespace falcon::parallel {

/// Each rank updates its shard of every unit and gathers the others' at the beginning of the next
/// step: before a block is entered its parameters are there, on a stream beside the computation.
///   stage 1: all gradients are collected in a buffer of each unit, micro-batch after micro-batch;
///            with the last one the units are reduced as their blocks are done.
///   stage 2: a unit is reduced in every micro-batch as its blocks are done, and only the shard is
///            kept; two buffers are under way at most.
///   stage 3: so are the parameters: while a unit is computed, the next one is gathered, forward
///            and backward, and all others are not held.
/// With a 16-bit type, product weights are held and gathered in it, and a shard of float32 masters
/// is updated.
class Sharded : public Strategy {
 public:
  explicit Sharded(const StrategyContext& context);
  ~Sharded() override;

  void before_step() override;
  void before_forward() override;
  void after_backward(bool is_last) override;
  void before_backward(bool is_last) override { is_last_pass_ = is_last; }
  void restart() override;

  std::vector<Slice> slices() const override;
  bool is_sharded() const override { return true; }
  void sum(const at::Tensor& tensor) override;
  std::vector<at::Tensor> whole(const std::vector<at::Tensor>& parts) override;
  void split(const std::vector<at::Tensor>& whole, const std::vector<at::Tensor>& parts) override;
  void gather_model() override;
  void resume() override;

  CommunicationCount last_step() const override;
  std::vector<double> busy_ms() const override { return exchange_.busy_ms(); }
  bool marks_gradients() const override { return true; }
  HeldBytes held() const override { return held_; }
  std::map<std::string, std::string> choices() const override;

 private:
  /// A unit and what is under way for it.
  struct Unit {
    FlatUnit memory;
    at::Tensor gradients = {};                      // whole; stages 2 and 3: while under way
    std::unique_ptr<comm::Collective> gather = {};  // not waited for
    std::unique_ptr<comm::Collective> scatter = {};
    bool is_gathered = false;  // or on its way: flat() has, or will have, the values of this step
    bool is_added = false;     // of scatter: adds to the shard of the micro-batches before
  };
  enum class Pass { kForward, kBackward };

  void watch_blocks();
  void make_units(const StrategyContext& context);
  void place_gradients();
  void count_held();
  void count_buffer(std::int64_t bytes);
  at::Tensor entered(std::size_t block, const at::Tensor& input);
  void need(std::size_t block, Pass pass);
  void block_done(std::size_t block);
  void start_gather(Unit& unit, const Unit* kept);
  void drop_parameters(Unit& unit);
  bool is_dropped(const Unit& unit) const { return stage_ == 3 && !unit.memory.layout().is_common; }
  void reduce(Unit& unit);
  void take_reduced(Unit& unit);

  comm::ProcessGroup& group_;
  comm::ShardExchange exchange_;
  std::int64_t stage_;
  double unit_mb_;
  std::optional<at::ScalarType> narrow_type_;
  std::string exchanged_;
  std::int64_t micro_batches_;
  std::function<void()> on_gradients_computed_;
  at::ScalarType reduced_type_ = at::kFloat;
  std::vector<Unit> units_;      // in the order of the blocks, a common unit last
  std::size_t num_regular_ = 0;  // units that are not common
  std::deque<Unit*> reducing_;   // oldest first
  HeldBytes held_;
  std::int64_t buffer_bytes_ = 0;  // held_.buffers is the most of it
  bool is_last_pass_ = true;
  std::int64_t passes_ = 0;  // backward passes of this step that are over
};

}  // namespace falcon::parallel
