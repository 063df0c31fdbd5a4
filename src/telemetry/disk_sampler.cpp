#include "telemetry/disk_sampler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "platform/block_device.h"

namespace falcon::telemetry {
namespace {

constexpr double kSectorBytes = 512;  // of diskstats, whatever the disk's own

struct DiskMetric {
  const char* name;
  MetricKind kind;
  double scale;
  MeasuredSummary DiskTelemetry::*field;
  const char* when_idle;
};
constexpr DiskMetric kMetrics[] = {
    {"read_bytes_per_s", MetricKind::kCounter, kSectorBytes, &DiskTelemetry::read_bytes_per_s, ""},
    {"write_bytes_per_s", MetricKind::kCounter, kSectorBytes, &DiskTelemetry::write_bytes_per_s,
     ""},
    {"read_iops", MetricKind::kCounter, 1, &DiskTelemetry::read_iops, ""},
    {"write_iops", MetricKind::kCounter, 1, &DiskTelemetry::write_iops, ""},
    {"read_latency_ms", MetricKind::kRatio, 1, &DiskTelemetry::read_latency_ms,
     "no read in the window"},
    {"write_latency_ms", MetricKind::kRatio, 1, &DiskTelemetry::write_latency_ms,
     "no write in the window"},
    {"queue_depth", MetricKind::kCounter, 1e-3, &DiskTelemetry::queue_depth, ""},
    {"busy_pct", MetricKind::kCounter, 100e-3, &DiskTelemetry::busy_pct, ""},
};
constexpr std::size_t kPerDisk = std::size(kMetrics);

// A line after the name: reads, merged, sectors, ms, writes, merged, sectors, ms, in flight, busy
// ms, weighted ms (Documentation/admin-guide/iostats.rst).
void set_readings(std::string_view numbers, std::span<Reading> out) {
  std::array<double, 11> n{};
  const char* at = numbers.data();
  const char* const end = at + numbers.size();
  for (double& number : n) {
    while (at < end && *at == ' ') ++at;
    std::uint64_t whole = 0;
    const auto [next, error] = std::from_chars(at, end, whole);
    if (error != std::errc()) return;
    number = static_cast<double>(whole);
    at = next;
  }
  const Reading readings[kPerDisk] = {
      Reading::of(n[2]),       Reading::of(n[6]),       Reading::of(n[0]),  Reading::of(n[4]),
      Reading::of(n[3], n[0]), Reading::of(n[7], n[4]), Reading::of(n[10]), Reading::of(n[9])};
  std::copy(std::begin(readings), std::end(readings), out.begin());
}

}  // namespace

DiskSampler::DiskSampler(const char* name, platform::Root root,
                         const Measured<std::string>& data_device, const std::string& disabled)
    : Sampler(name, "host", "host"), root_(std::move(root)), no_disks_(disabled) {
  if (!disabled.empty()) {
    data_disk_ = Measured<std::string>::missing(disabled);
    return;
  }
  data_disk_ = data_device.has_value() ? platform::disk_of(root_, *data_device) : data_device;
  auto physical = platform::physical_disks(root_);
  no_disks_ = physical.has_value() && physical.value->empty() ? "there is no physical disk"
                                                              : physical.reason;
  disks_ = physical.value.value_or(std::vector<std::string>());
  if (data_disk_.has_value()) {
    data_disks_ = platform::disks_below(root_, *data_disk_);
    data_disks_.push_back(*data_disk_);
  }
  for (const std::string& disk : data_disks_) {
    if (std::find(disks_.begin(), disks_.end(), disk) == disks_.end()) disks_.push_back(disk);
  }
  for (const std::string& disk : disks_) {
    for (const DiskMetric& row : kMetrics) {
      metrics_.push_back(Metric{.name = row.name,
                                .kind = row.kind,
                                .scale = row.scale,
                                .scope = disk,
                                .when_idle = row.when_idle});
    }
  }
  std::vector<Reading> probe(metrics_.size());
  read(probe);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!probe[i].value) metrics_[i].missing = probe[i].reason;
  }
}

std::string DiskSampler::read(std::span<Reading> out) {
  const auto text = root_.read("proc/diskstats");
  const std::string reason =
      text.has_value() ? "/proc/diskstats has no line of this disk" : text.reason;
  for (Reading& reading : out) reading = Reading::none(reason);
  if (!text.has_value()) return "";
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    for (int number = 0; number < 2; ++number) {  // major and minor
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      line.remove_prefix(std::min(line.find(' '), line.size()));
    }
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t name_end = std::min(line.find(' '), line.size());
    const auto disk = std::find(disks_.begin(), disks_.end(), line.substr(0, name_end));
    if (disk == disks_.end()) continue;
    const auto first = static_cast<std::size_t>(disk - disks_.begin()) * kPerDisk;
    set_readings(line.substr(name_end), out.subspan(first, kPerDisk));
  }
  return "";
}

void DiskSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  HostTelemetry& host = out.utilization.host;
  host.data_disk = data_disk_;
  std::vector<DiskTelemetry> disks;
  bool is_any = false;
  for (std::size_t d = 0; d < disks_.size(); ++d) {
    DiskTelemetry disk;
    disk.name = disks_[d];
    disk.holds_data =
        std::find(data_disks_.begin(), data_disks_.end(), disks_[d]) != data_disks_.end();
    for (std::size_t i = 0; i < kPerDisk; ++i) {
      disk.*kMetrics[i].field = results[d * kPerDisk + i].summary;
      is_any = is_any || results[d * kPerDisk + i].summary.has_value();
    }
    disks.push_back(std::move(disk));
  }
  host.disks = Measured<std::vector<DiskTelemetry>>::missing(
      disks_.empty() ? no_disks_ : results.front().summary.reason);
  if (is_any) host.disks = std::move(disks);
}

}  // namespace falcon::telemetry
