// What a checkpoint says of itself, in the metadata of its safetensors file: whose it is, and where
// the training stood. Its tensors are the model's under their own names (so it is a weight file
// too), and beside them those of the optimizer and of loss scaling.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "weights/safetensors.h"

namespace falcon::weights {

struct CheckpointFacts {
  std::string model, optimizer;  // catalog words
  std::int64_t seed = 0, samples = 0, global_batch = 0;
  std::int64_t step = 0;     // steps done; what is random follows from seed, step and sample
  std::int64_t updates = 0;  // those that loss scaling did not skip: what the schedule follows
};

std::map<std::string, std::string> to_metadata(const CheckpointFacts& facts);
/// Throws Error(kUsage) naming the file when it is no checkpoint of this program.
CheckpointFacts checkpoint_facts(const SafetensorsFile& file);

}  // namespace falcon::weights
