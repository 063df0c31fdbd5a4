// Part of a worker's records (falconbench/records.h): its input pipeline.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "falconbench/dataset.h"
#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

struct LoaderRecord {
  std::int64_t samples = 0;  // delivered in the measured window
  std::int64_t file_bytes = 0;
  double io_s = 0, decode_s = 0;  // busy seconds, summed over threads
  double wait_s = 0;              // the training thread waited for a batch
  int threads = 0;
  std::string pictures_made_on = "none";  // cpu, gpu
  std::string io = "none";                // FileReading::used
  std::string io_fallback;
  Measured<double>
      capacity_samples_per_s;  // what the threads could deliver: samples / busy seconds x threads
  std::map<std::string, std::int64_t> skipped;  // reason -> distinct items of this rank
  std::vector<SkippedItem> skipped_items;       // the first 100
};
template <class V>
void visit_fields(LoaderRecord& l, V& v) {
  v.field("samples", l.samples, "samples delivered in the measured window");
  v.field("file_bytes", l.file_bytes, "bytes read from files in the measured window");
  v.field("io_s", l.io_s, "busy seconds opening and reading, summed over threads");
  v.field("decode_s", l.decode_s, "busy seconds decoding and resizing, summed over threads");
  v.field("wait_s", l.wait_s, "seconds the training thread waited for a batch");
  v.field("threads", l.threads, "decode threads");
  v.field("pictures_made_on", l.pictures_made_on, "cpu, gpu, or none: data without pictures");
  v.field("io", l.io, "how files were read: buffered, direct, uring, or none");
  v.field("io_fallback", l.io_fallback, "why not as asked; empty: as asked");
  v.field("capacity_samples_per_s", l.capacity_samples_per_s, "what the threads could deliver");
  v.field("skipped", l.skipped, "reason -> number of items left out");
  v.field("skipped_items", l.skipped_items, "the first 100 of them");
}

}  // namespace falcon
