#include "telemetry/network_sampler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/text.h"

namespace falcon::telemetry {
namespace {

// A host with containers has hundreds of virtual interfaces.
constexpr std::size_t kMaxInterfaces = 64;

struct InterfaceMetric {
  const char* name;
  MeasuredSummary NetworkTelemetry::*field;
  bool series;
};
constexpr InterfaceMetric kMetrics[] = {
    {"rx_bytes_per_s", &NetworkTelemetry::rx_bytes_per_s, true},
    {"tx_bytes_per_s", &NetworkTelemetry::tx_bytes_per_s, true},
    {"rx_packets_per_s", &NetworkTelemetry::rx_packets_per_s, false},
    {"tx_packets_per_s", &NetworkTelemetry::tx_packets_per_s, false},
    {"errors_per_s", &NetworkTelemetry::errors_per_s, false},
    {"drops_per_s", &NetworkTelemetry::drops_per_s, false},
};
constexpr std::size_t kPerInterface = std::size(kMetrics);

// Calls visit(name, numbers) for each line "name: bytes packets errors drops fifo frame compressed
// multicast bytes packets errors drops ..." (received, then sent). The two lines of headings have
// no colon.
void visit_lines(std::string_view text,
                 const std::function<void(std::string_view, std::span<const double>)>& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::array<double, 12> numbers{};
    const char* at = line.data() + colon + 1;
    const char* const line_end = line.data() + line.size();
    bool is_whole = true;
    for (double& number : numbers) {
      while (at < line_end && *at == ' ') ++at;
      std::uint64_t whole = 0;
      const auto [next, error] = std::from_chars(at, line_end, whole);
      is_whole = is_whole && error == std::errc();
      number = static_cast<double>(whole);
      at = next;
    }
    if (is_whole) visit(base::trim(line.substr(0, colon)), numbers);
  }
}

}  // namespace

NetworkSampler::NetworkSampler(const char* name, platform::Root root, const std::string& disabled)
    : Sampler(name, "host", "host"), root_(std::move(root)), no_interfaces_(disabled) {
  if (!disabled.empty()) return;
  const auto text = root_.read("proc/net/dev");
  no_interfaces_ = text.has_value() ? "/proc/net/dev lists no interface" : text.reason;
  visit_lines(text.value.value_or(""), [this](std::string_view interface, auto) {
    if (interfaces_.size() < kMaxInterfaces) interfaces_.emplace_back(interface);
  });
  for (const std::string& interface : interfaces_) {
    for (const InterfaceMetric& row : kMetrics) {
      metrics_.push_back(Metric{.name = row.name,
                                .kind = MetricKind::kCounter,
                                .series = row.series,
                                .scope = interface});
    }
  }
}

std::string NetworkSampler::read(std::span<Reading> out) {
  const auto text = root_.read("proc/net/dev");
  const std::string reason =
      text.has_value() ? "/proc/net/dev has no line of this interface" : text.reason;
  for (Reading& reading : out) reading = Reading::none(reason);
  visit_lines(text.value.value_or(""), [&](std::string_view interface, std::span<const double> n) {
    const auto found = std::find(interfaces_.begin(), interfaces_.end(), interface);
    if (found == interfaces_.end()) return;
    const auto first = static_cast<std::size_t>(found - interfaces_.begin()) * kPerInterface;
    const double values[kPerInterface] = {n[0], n[8], n[1], n[9], n[2] + n[10], n[3] + n[11]};
    for (std::size_t i = 0; i < kPerInterface; ++i) out[first + i] = Reading::of(values[i]);
  });
  return "";
}

void NetworkSampler::place(std::span<const MetricResult> results, Telemetry& out) const {
  auto& network = out.utilization.host.network;
  std::vector<NetworkTelemetry> interfaces;
  bool is_any = false;
  for (std::size_t n = 0; n < interfaces_.size(); ++n) {
    NetworkTelemetry interface;
    interface.name = interfaces_[n];
    for (std::size_t i = 0; i < kPerInterface; ++i) {
      interface.*kMetrics[i].field = results[n * kPerInterface + i].summary;
      is_any = is_any || results[n * kPerInterface + i].summary.has_value();
    }
    interfaces.push_back(std::move(interface));
  }
  network = Measured<std::vector<NetworkTelemetry>>::missing(
      interfaces_.empty() ? no_interfaces_ : results.front().summary.reason);
  if (is_any) network = std::move(interfaces);
}

}  // namespace falcon::telemetry
