// Part of the report: what the data lies on, how fast that is, and where what was read came from.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"
#include "falconbench/storage_sight.h"

namespace falcon {

/// The storage of one host, and what its workers read of it.
struct StorageFigures {
  Measured<StorageFacts> data;
  Measured<CacheState> cache;
  Measured<StorageProbe> probe;
  Measured<std::string> io, io_fallback;
  Measured<std::int64_t> file_bytes, workers_read_bytes, device_read_bytes;
  Measured<double> from_storage_pct;
  Measured<std::string> state;
};
template <class V>
void visit_fields(StorageFigures& s, V& v) {
  v.field("data", s.data, "where the training data lies");
  v.field("cache", s.cache, "page cache before and after the run");
  v.field("probe", s.probe, "how fast the storage gave files before the run");
  v.field("io", s.io, "how the loaders read files: buffered, direct, uring");
  v.field("io_fallback", s.io_fallback, "why not as data.loader.io says");
  v.field("file_bytes", s.file_bytes,
          "what the workers read from data files while measuring, cached or not");
  v.field(
      "workers_read_bytes", s.workers_read_bytes,
      "what the workers fetched from storage while measuring; less than file_bytes: page cache");
  v.field("device_read_bytes", s.device_read_bytes,
          "read from the block device while measuring, by all processes");
  v.field("from_storage_pct", s.from_storage_pct, "workers_read_bytes / file_bytes, at most 100");
  v.field("state", s.state,
          "what the measured steps read from: cold (at least 90 % from storage), warm (at most "
          "10 %) or mixed");
}

struct HostStorage : StorageFigures {
  std::string name;
};
template <class V>
void visit_fields(HostStorage& h, V& v) {
  v.field("name", h.name, "host name, as in run.hosts");
  visit_fields(static_cast<StorageFigures&>(h), v);
}

/// That of the host with rank 0, and of the others of a run on several.
struct Storage : StorageFigures {
  std::vector<HostStorage> hosts;
};
template <class V>
void visit_fields(Storage& s, V& v) {
  visit_fields(static_cast<StorageFigures&>(s), v);
  v.field("hosts", s.hosts, "the same of the other hosts of a run on several");
}

}  // namespace falcon
