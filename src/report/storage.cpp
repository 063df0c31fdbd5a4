#include "report/storage.h"

#include <cmath>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::report {
namespace {

bool holds(const std::string& mount, const std::string& folder) {
  if (mount == "/") return true;
  return folder.starts_with(mount) &&
         (folder.size() == mount.size() || folder[mount.size()] == '/');
}

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
  for (const DiskTelemetry& disk : *utilization.host.disks) {
    if (!disk.holds_data) continue;
    if (!disk.read_bytes_per_s.has_value()) return Bytes::missing(disk.read_bytes_per_s.reason);
    return std::llround((*disk.read_bytes_per_s).mean * *utilization.window_s);
  }
  return Bytes::missing(utilization.host.data_disk.has_value()
                            ? "no readings of " + *utilization.host.data_disk
                            : utilization.host.data_disk.reason);
}

}  // namespace

StorageFacts storage_facts(const std::string& folder, std::string_view mountinfo) {
  StorageFacts facts;
  facts.folder = folder;
  facts.mount = facts.file_system = facts.device =
      Measured<std::string>::missing("no mount point holds the folder");
  std::size_t longest = 0;
  for (const std::string& line : base::split(mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> front = base::split(line.substr(0, dash), ' ');
    const std::vector<std::string> back = base::split(line.substr(dash + 3), ' ');
    if (front.size() < 6 || back.size() < 2) continue;
    const std::string mount = base::octal_unescaped(front[4]);
    if (!holds(mount, folder) || mount.size() < longest) continue;
    longest = mount.size();
    facts.mount = mount;
    facts.file_system = back[0];
    facts.device = base::octal_unescaped(back[1]);
  }
  return facts;
}

Measured<StorageFacts> find_storage(const std::string& folder) {
  using Facts = Measured<StorageFacts>;
  if (folder.empty()) return Facts::missing("synthetic data lies nowhere");
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(folder, error);
  if (error) return Facts::missing(base::printable(folder, 200) + ": " + error.message());
  try {
    return storage_facts(real.string(), base::read_file("/proc/self/mountinfo"));
  } catch (const Error& failure) {
    return Facts::missing(failure.what());
  }
}

Storage make_storage(const Evidence& evidence, const Utilization& utilization,
                     const Measured<StorageFacts>& facts) {
  using Bytes = Measured<std::int64_t>;
  Storage out;
  out.data = facts;
  if (evidence.plan.data.folder.empty()) {
    out.file_bytes = out.workers_read_bytes = out.device_read_bytes =
        Bytes::missing("synthetic data reads nothing");
    return out;
  }
  std::int64_t file_bytes = 0;
  for (const WorkerRecords* rank : evidence.records) file_bytes += rank->loader.file_bytes;
  out.file_bytes = evidence.gap().empty() ? Bytes(file_bytes) : evidence.missing<std::int64_t>();
  out.workers_read_bytes = workers_read(utilization.host);
  out.device_read_bytes = device_read(utilization);
  return out;
}

}  // namespace falcon::report
