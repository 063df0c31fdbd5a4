// The parts of the report's `training` section about what was learned and kept.
#pragma once
#include <cstdint>
#include <string>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

struct Evaluation {
  std::int64_t samples = 0, skipped = 0;
  double time_s = 0;
  Measured<double> samples_per_s;
};
template <class V>
void visit_fields(Evaluation& e, V& v) {
  v.field("samples", e.samples, "validation samples that count in training.accuracy");
  v.field("skipped", e.skipped, "those left out as damaged");
  v.field("time_s", e.time_s, "time of the evaluation, part of training_time_s");
  v.field("samples_per_s", e.samples_per_s, "samples / time_s");
}

struct Checkpoint {
  std::int64_t step = 0;
  std::string file;
  std::int64_t bytes = 0;
  double time_s = 0;
};
template <class V>
void visit_fields(Checkpoint& c, V& v) {
  v.field("step", c.step, "steps of the training in it, warm-up included");
  v.field("file", c.file, "where it was written");
  v.field("bytes", c.bytes, "its size");
  v.field("time_s", c.time_s,
          "how long training stood still for it: part of training_time_s, of no step");
}

}  // namespace falcon
