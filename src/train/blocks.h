// How all ranks end on the same step without asking each other in every one: training goes in
// blocks of steps, and only rank 0 decides. At the start of a block it publishes how long the next
// one is, and whether it is the last; the others read that when they come to it.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "comm/process_group.h"

namespace falcon::train {

struct RunLength {
  std::int64_t warmup_steps = 0;
  std::optional<std::int64_t> measured_steps;  // absent: seconds
  double seconds = 0;
  std::optional<std::int64_t> checkpoint_steps = {};  // measured; a block ends there
};

/// What rank 0 knows when it decides.
struct RunProgress {
  std::int64_t planned_steps = 0;    // in all blocks decided on so far
  std::int64_t completed_steps = 0;  // of those
  double measured_s = 0;             // from the end of the warm-up to the last completed step
  std::optional<double> step_s;      // usual time of a step, once there was one
  bool stop = false;                 // somebody wants the run to end
};

struct Block {
  std::int64_t steps = 0;
  bool last = false;     // nothing comes after it
  bool stopped = false;  // and that because somebody wanted the run to end
  friend bool operator==(const Block&, const Block&) = default;
};

/// The block after the planned ones: about 0.15 s long, at most 256 steps, one step while times are
/// unknown; ends with the warm-up, at checkpoints and where the run ends. Never crosses the end of
/// the warm-up.
Block next_block(const RunLength& length, const RunProgress& progress);

class BlockProtocol {
 public:
  /// group: nullptr in a world of one. It must outlive this. ranks_meet: a step ends only when all
  /// ranks have taken part in it, so that what was published for it has been read.
  BlockProtocol(comm::ProcessGroup* group, const RunLength& length, bool ranks_meet)
      : group_(group), length_(length), ranks_meet_(ranks_meet) {}

  /// Rank 0 decides on the block to come and publishes it; nothing on the other ranks.
  void announce(const RunProgress& progress);
  /// The oldest announced block that has not been taken: other ranks wait for it.
  Block take();

 private:
  bool decides() const { return group_ == nullptr || group_->rank() == 0; }
  std::string key_of(std::int64_t index) const { return "block/" + std::to_string(index); }
  void forget_read_blocks(std::int64_t completed_steps);

  comm::ProcessGroup* group_;
  RunLength length_;
  bool ranks_meet_;
  std::optional<Block> announced_;  // rank 0
  std::int64_t announced_count_ = 0;
  std::int64_t taken_count_ = 0;
  std::int64_t forgotten_count_ = 0;
  std::int64_t forgotten_steps_ = 0;
  std::deque<std::int64_t> block_steps_;  // of published keys, from forgotten_count_ on
};

}  // namespace falcon::train
