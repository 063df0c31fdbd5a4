#include "report/storage.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"

namespace falcon::report {
namespace {

constexpr double kColdShare = 0.9, kWarmShare = 0.1;  // of the bytes read, from storage

Measured<std::int64_t> workers_read(const HostTelemetry& host) {
  using Bytes = Measured<std::int64_t>;
  if (!host.processes.has_value()) return Bytes::missing(host.processes.reason);
  double sum = 0;
  for (const ProcessTelemetry& process : *host.processes) {
    if (!process.read_bytes.has_value()) return Bytes::missing(process.read_bytes.reason);
    sum += *process.read_bytes;
  }
  return static_cast<std::int64_t>(sum);
}

Measured<std::int64_t> device_read(const Utilization& utilization) {
  using Bytes = Measured<std::int64_t>;
  if (!utilization.host.disks.has_value()) return Bytes::missing(utilization.host.disks.reason);
  if (!utilization.window_s.has_value()) return Bytes::missing(utilization.window_s.reason);
  // The devices below the one that is mounted hold data too.
  const Measured<std::string>& mounted = utilization.host.data_disk;
  for (const DiskTelemetry& disk : *utilization.host.disks) {
    if (!disk.holds_data || (mounted.has_value() && disk.name != *mounted)) continue;
    if (!disk.read_bytes_per_s.has_value()) return Bytes::missing(disk.read_bytes_per_s.reason);
    return std::llround((*disk.read_bytes_per_s).mean * *utilization.window_s);
  }
  return Bytes::missing(mounted.has_value() ? "no readings of " + *mounted : mounted.reason);
}

void set_missing(StorageFigures& out, const std::string& why) {
  out.io = out.io_fallback = out.state = Measured<std::string>::missing(why);
  out.file_bytes = out.workers_read_bytes = out.device_read_bytes =
      Measured<std::int64_t>::missing(why);
  out.from_storage_pct = Measured<double>::missing(why);
}

/// Of the ranks on the host.
std::vector<const WorkerRecords*> records_of(const Evidence& evidence, const std::string& host) {
  std::vector<const WorkerRecords*> records;
  for (const RankPlan& rank : evidence.plan.ranks) {
    const WorkerRecords* own = evidence.of_rank(rank.rank);
    if (rank.host == host && own != nullptr) records.push_back(own);
  }
  return records;
}

/// How the ranks read, each way once.
void take_io(const std::vector<const WorkerRecords*>& records, StorageFigures& out) {
  std::vector<std::string> ways;
  std::string fallback;
  for (const WorkerRecords* rank : records) {
    const LoaderRecord& loader = rank->loader;
    if (std::find(ways.begin(), ways.end(), loader.io) == ways.end()) ways.push_back(loader.io);
    if (fallback.empty()) fallback = loader.io_fallback;
  }
  out.io = base::join(ways, ", ");
  out.io_fallback = fallback.empty() ? Measured<std::string>::missing("files are read as asked")
                                     : Measured<std::string>(fallback);
}

/// Whether the kernel counts what a process fetches from this file system (task_io_account_read):
/// block devices, NFS and SMB.
bool counts_reads(const StorageFacts& facts) {
  if (facts.disks.has_value()) return true;
  const std::string type = facts.file_system.value.value_or("");
  return type.starts_with("nfs") || type == "cifs" || type == "smb3";
}

void take_source(StorageFigures& out) {
  const auto unknown = [&out](const std::string& why) {
    out.from_storage_pct = Measured<double>::missing(why);
    out.state = Measured<std::string>::missing(why);
  };
  const std::int64_t read = *out.file_bytes;
  if (read == 0) return unknown("no file was read while measuring");
  if (!out.workers_read_bytes.has_value()) return unknown(out.workers_read_bytes.reason);
  const std::int64_t fetched = *out.workers_read_bytes;
  if (fetched == 0 && (!out.data.has_value() || !counts_reads(*out.data))) {
    return unknown("the kernel does not count what is fetched from this file system");
  }
  // Read-ahead and whole pages fetch more than was asked for.
  const double share = static_cast<double>(fetched) / static_cast<double>(read);
  out.from_storage_pct = std::min(100.0, 100 * share);
  out.state = std::string(share >= kColdShare ? "cold" : share <= kWarmShare ? "warm" : "mixed");
}

}  // namespace

StorageFigures make_storage(const Evidence& evidence, const StorageView& view) {
  StorageFigures out;
  out.data = view.sight.facts;
  out.cache = view.sight.cache;
  out.probe = view.sight.probe;
  if (evidence.plan.data.folder.empty()) {
    set_missing(out, "synthetic data reads nothing");
    return out;
  }
  if (!evidence.gap().empty()) set_missing(out, evidence.gap());
  out.workers_read_bytes = workers_read(view.utilization.host);
  out.device_read_bytes = device_read(view.utilization);
  if (!evidence.gap().empty()) return out;
  const std::vector<const WorkerRecords*> records = records_of(evidence, view.host);
  std::int64_t file_bytes = 0;
  for (const WorkerRecords* rank : records) file_bytes += rank->loader.file_bytes;
  out.file_bytes = file_bytes;
  take_io(records, out);
  take_source(out);
  return out;
}

StorageFigures unknown_storage(const std::string& why) {
  StorageFigures out;
  set_missing(out, why);
  out.data = Measured<StorageFacts>::missing(why);
  out.cache = Measured<CacheState>::missing(why);
  out.probe = Measured<StorageProbe>::missing(why);
  return out;
}

}  // namespace falcon::report
