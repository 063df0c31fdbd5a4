// Return codes, types and values of NVML's fields on one GPU, as a table: what a sampler can expect
// there.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace falcon::platform {

struct NvmlProbe {
  std::vector<int> supported, not_supported;  // field ids, sorted, each once
  std::optional<int> pcie_counter_bits;       // of the fields of cumulative PCIe bytes
  std::optional<double> energy_update_period_s;
  // Bytes that a copy of known size moved each counter by, its wraps added again.
  std::optional<std::int64_t> rx_bytes, tx_bytes;
};

bool is_nvml_probe(std::string_view text);
NvmlProbe read_nvml_probe(std::string_view text);

}  // namespace falcon::platform
