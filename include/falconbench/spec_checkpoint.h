// The part of a run spec about what is kept while the run goes on (falconbench/run_spec.h).
#pragma once
#include <optional>
#include <string>

#include "falconbench/fields.h"

namespace falcon {

struct CheckpointSpec {
  std::optional<WordOrCount> every;
  std::string path;
  std::string resume;
};
template <class V>
void visit_fields(CheckpointSpec& s, V& v) {
  v.field("every", s.every,
          "measured steps from one checkpoint to the next: epoch (those of a pass over the data, "
          "the default), or a number",
          one_of_or_at_least("checkpoint_times", 1));
  v.field("path", s.path,
          "folder for checkpoint.safetensors (weights, optimizer and position), replaced each "
          "time; relative as data.path, on the storage where one is given");
  v.field("resume", s.resume,
          "go on from this checkpoint: such a folder, or the file itself; relative as data.path");
}

}  // namespace falcon
