#include "platform/dump/read_nvml_probe.h"

#include <charconv>
#include <set>
#include <string>

#include "platform/dump/lines.h"

namespace falcon::platform {
namespace {

constexpr int kPcieTxBytes = 197;  // NVML_FI_DEV_PCIE_COUNT_TX_BYTES
constexpr int kPcieRxBytes = 198;
constexpr int kUnsignedInt = 1;  // NVML_VALUE_TYPE_UNSIGNED_INT
constexpr std::int64_t kWrap = std::int64_t{1} << 32;

std::optional<std::int64_t> number_after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return {};
  std::string_view digits = line.substr(at + label.size());
  while (!digits.empty() && (digits.front() == ' ' || digits.front() == '('))
    digits.remove_prefix(1);
  if (digits.starts_with("+")) digits.remove_prefix(1);
  std::int64_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc())
    return {};
  return number;
}

// The smallest count of at least `least` that leaves this change in a counter of 32 bits.
std::optional<std::int64_t> unwrapped(std::optional<std::int64_t> change, std::int64_t least) {
  if (!change) return {};
  std::int64_t bytes = *change;
  while (bytes < least) bytes += kWrap;
  return bytes;
}

// "# 40 host-to-device copies of 1 GiB (42949672960 bytes) at 53.7 GB/s: field 197 (TX) changed by
// -268146040, field 198 (RX) by +3355478652": what came in is at least the payload.
void take_copy(const std::string& line, NvmlProbe& probe) {
  const auto payload = number_after(line, "GiB (");
  if (line.find("host-to-device") == std::string::npos || !payload) return;
  probe.tx_bytes = unwrapped(number_after(line, "(TX) changed by"), 0);
  probe.rx_bytes = unwrapped(number_after(line, "(RX) by"), *payload);
}

// "# 585 reads of field 83 in 2 s gave 20 different values, steps 11.7 to 11.9 J"
void take_energy(const std::string& line, NvmlProbe& probe) {
  if (line.find("reads of field 83") == std::string::npos) return;
  const auto seconds = number_after(line, " in ");
  const auto values = number_after(line, " gave ");
  if (seconds && values && *values > 0) {
    probe.energy_update_period_s = static_cast<double>(*seconds) / static_cast<double>(*values);
  }
}

}  // namespace

bool is_nvml_probe(std::string_view text) {
  return text.substr(0, 4096).find("field scope call_rc field_rc") != std::string_view::npos;
}

NvmlProbe read_nvml_probe(std::string_view text) {
  NvmlProbe probe;
  std::set<int> supported;
  std::set<int> refused;
  for (const std::string& line : clean_lines(text)) {
    take_copy(line, probe);
    take_energy(line, probe);
    const std::vector<std::string> words = words_of(line);
    if (words.size() != 8) continue;
    const auto field = leading_number(words[0]);
    const auto call = leading_number(words[2]);
    const auto code = leading_number(words[3]);
    const auto type = leading_number(words[4]);
    if (!field || !call || !code || !type) continue;
    // The call answers for the request, the field for itself: both must be good.
    const bool is_supported = *call == 0 && *code == 0;
    (is_supported ? supported : refused).insert(*field);
    if (is_supported && (*field == kPcieTxBytes || *field == kPcieRxBytes)) {
      probe.pcie_counter_bits = *type == kUnsignedInt ? 32 : 64;
    }
  }
  probe.supported.assign(supported.begin(), supported.end());
  for (const int field : refused) {
    if (!supported.contains(field)) probe.not_supported.push_back(field);
  }
  return probe;
}

}  // namespace falcon::platform
