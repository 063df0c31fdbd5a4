// Parts of the report's `training` section: where the time of a step went.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/records.h"
#include "falconbench/statistics.h"

namespace falcon {

/// Exposed time on the training stream: the phases do not overlap and sum to the step.
struct Phases {
  Measured<Statistics> data_wait, h2d, forward, backward, communication_exposed, optimizer, other;
};
template <class V>
void visit_fields(Phases& p, V& v) {
  v.field("data_wait", p.data_wait, "waiting for the next batch");
  v.field("h2d", p.h2d, "copying it to the device");
  v.field("forward", p.forward, "forward pass and loss");
  v.field("backward", p.backward, "backward pass");
  v.field("communication_exposed", p.communication_exposed,
          "gradient exchange that computation does not hide");
  v.field("optimizer", p.optimizer, "weight update");
  v.field("other", p.other, "what cannot be told apart, and the rest of the step");
}

struct Communication {
  Measured<std::int64_t> bytes_per_step, calls_per_step;
  Measured<double> busy_ms, exposed_ms;
  Measured<double> algorithm_bandwidth_bytes_per_s, bus_bandwidth_bytes_per_s;
};
template <class V>
void visit_fields(Communication& c, V& v) {
  v.field(
      "bytes_per_step", c.bytes_per_step,
      "bytes that one rank hands to collectives in a step: gradients; sharded: parameters, too");
  v.field("calls_per_step", c.calls_per_step, "collectives in a step");
  v.field(
      "busy_ms", c.busy_ms,
      "busy time of the communication stream a step, mean over ranks; with a graph of steps in the "
      "warm-up, as timing would cost in it");
  v.field("exposed_ms", c.exposed_ms, "mean of phases_ms.communication_exposed");
  v.field("algorithm_bandwidth_bytes_per_s", c.algorithm_bandwidth_bytes_per_s,
          "bytes_per_step / busy time");
  v.field("bus_bandwidth_bytes_per_s", c.bus_bandwidth_bytes_per_s,
          "algorithm bandwidth x 2 (n - 1) / n, as nccl-tests define it for all-reduce; sharded: x "
          "(n - 1) / n, as for all-gather and reduce-scatter");
}

struct Input {
  Measured<double> capacity_samples_per_s;
  std::int64_t file_bytes = 0;
  double io_s = 0, decode_s = 0, wait_s = 0;
  Measured<double> copy_s;
  int threads = 0;
  std::string pictures_made_on = "none";
  std::int64_t skipped_samples = 0, skipped_at_scan = 0;
  std::map<std::string, std::int64_t> skipped;
  std::vector<SkippedItem> skipped_items;
};
template <class V>
void visit_fields(Input& i, V& v) {
  v.field("capacity_samples_per_s", i.capacity_samples_per_s,
          "the loader's own rate: what the decode threads of all ranks could deliver");
  v.field("file_bytes", i.file_bytes, "bytes read from data files while measuring");
  v.field("io_s", i.io_s, "busy seconds opening and reading, summed over all threads");
  v.field("decode_s", i.decode_s, "busy seconds decoding and resizing, summed over all threads");
  v.field("wait_s", i.wait_s, "seconds that training waited for a batch, summed over ranks");
  v.field("copy_s", i.copy_s, "busy seconds of the copies to the device");
  v.field("threads", i.threads, "decode threads of all ranks");
  v.field("pictures_made_on", i.pictures_made_on,
          "what resizes, cuts and colours the decoded pictures: cpu, gpu, or none (no pictures)");
  v.field("skipped_samples", i.skipped_samples,
          "samples left out as damaged while reading, all reasons");
  v.field("skipped_at_scan", i.skipped_at_scan, "left out when the folder was scanned");
  v.field("skipped", i.skipped, "reason -> items left out, at the scan or when read");
  v.field("skipped_items", i.skipped_items, "the first 100 of them");
}

}  // namespace falcon
