// What a launcher sees of the storage that a run's data lies on: the disks, the page cache, how
// fast it gives files. Part of the report, and of what launchers of other hosts send.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/measured.h"

namespace falcon {

/// A whole disk with hardware, or a hypervisor, behind it.
struct StorageDisk {
  std::string name;  // as the kernel calls it: nvme0n1
  Measured<std::string> model, pci_address;
  Measured<std::vector<std::string>> pci_bridges;
  Measured<int> pcie_generation, pcie_generation_max, pcie_width, pcie_width_max, numa_node;
};
template <class V>
void visit_fields(StorageDisk& d, V& v) {
  v.field("name", d.name, "block device");
  v.field("model", d.model, "product");
  v.field("pci_address", d.pci_address, "of its controller");
  v.field("pci_bridges", d.pci_bridges, "PCIe ports above it, from the root port down");
  v.field("pcie_generation", d.pcie_generation, "generation of its link");
  v.field("pcie_generation_max", d.pcie_generation_max, "largest that drive and slot can do");
  v.field("pcie_width", d.pcie_width, "width of its link, lanes");
  v.field("pcie_width_max", d.pcie_width_max, "largest that drive and slot can do");
  v.field("numa_node", d.numa_node, "NUMA node of its slot");
}

/// What the data lies on; found by the launcher (report::make is pure).
struct StorageFacts {
  std::string folder;
  Measured<std::string> mount, file_system, device;
  Measured<std::vector<std::string>> layers;
  Measured<std::vector<StorageDisk>> disks;
};
template <class V>
void visit_fields(StorageFacts& s, V& v) {
  v.field("folder", s.folder, "absolute data folder");
  v.field("mount", s.mount, "mount point that holds it");
  v.field("file_system", s.file_system, "its type");
  v.field("device", s.device, "block device or network source");
  v.field("layers", s.layers,
          "block devices from the file system down to the disks: partitions, LVM, RAID, loops");
  v.field("disks", s.disks, "disks that hold the data");
}

/// Pages of the data set's files in the page cache, by mincore(2).
struct CacheState {
  std::string asked = "any", made_by;
  Measured<double> resident_found_pct, resident_begin_pct, resident_end_pct;
  std::int64_t files = 0, sampled_files = 0, sampled_bytes = 0;
  double time_s = 0;
};
template <class V>
void visit_fields(CacheState& c, V& v) {
  v.field("asked", c.asked, "data.cache: any, cold or warm");
  v.field("made_by", c.made_by, "what was done for it, or why it could not be done");
  v.field("resident_found_pct", c.resident_found_pct,
          "share of the training files in memory after they were listed");
  v.field("resident_begin_pct", c.resident_begin_pct, "the same before the workers started");
  v.field("resident_end_pct", c.resident_end_pct, "the same after the run");
  v.field("files", c.files, "training files");
  v.field("sampled_files", c.sampled_files, "files looked at, evenly spread");
  v.field("sampled_bytes", c.sampled_bytes, "their bytes");
  v.field("time_s", c.time_s, "time that making it cold or warm took");
}

struct ReadTrial {
  std::string order;
  int threads = 1;
  std::int64_t files = 0, bytes = 0;
  double time_s = 0, bytes_per_s = 0, files_per_s = 0, file_ms_p50 = 0, file_ms_p99 = 0;
  Measured<std::int64_t> storage_bytes;
  std::string ended_by;
};
template <class V>
void visit_fields(ReadTrial& t, V& v) {
  v.field("order", t.order, "in which files were read");
  v.field("threads", t.threads, "readers at once");
  v.field("files", t.files, "files read, each whole");
  v.field("bytes", t.bytes, "their bytes");
  v.field("time_s", t.time_s, "from first to last");
  v.field("bytes_per_s", t.bytes_per_s, "bytes / time_s");
  v.field("files_per_s", t.files_per_s, "files / time_s");
  v.field("file_ms_p50", t.file_ms_p50, "median time to open and read a file");
  v.field("file_ms_p99", t.file_ms_p99, "99th percentile of it");
  v.field("storage_bytes", t.storage_bytes,
          "of those fetched from storage, as the kernel counts them: fewer means page cache");
  v.field("ended_by", t.ended_by, "time, bytes, or all files: which bound ended it");
}

/// Reads of the data set's own files before the run.
struct StorageProbe {
  std::string io, fallback;
  ReadTrial sequential, random;
};
template <class V>
void visit_fields(StorageProbe& p, V& v) {
  v.field("io", p.io, "direct: past the page cache; buffered where that is refused");
  v.field("fallback", p.fallback, "why it is not direct; empty: it is");
  v.field("sequential", p.sequential, "one reader, file after file as they are listed");
  v.field("random", p.random, "as many readers as all loaders have threads, files in random order");
}

/// What the launcher of a host saw of it; each missing with its reason (synthetic data).
struct StorageSight {
  Measured<StorageFacts> facts;
  Measured<CacheState> cache;
  Measured<StorageProbe> probe;
};
template <class V>
void visit_fields(StorageSight& s, V& v) {
  v.field("facts", s.facts, "where the training data lies");
  v.field("cache", s.cache, "page cache before and after the run");
  v.field("probe", s.probe, "how fast the storage gave files before the run");
}

}  // namespace falcon
