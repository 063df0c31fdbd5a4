// What links can carry by their generation and width, and what is seen of it in practice: the one
// table of such figures. One way, GB = 1e9 bytes.
#pragma once
#include <string>
#include <string_view>

#include "falconbench/measured.h"

namespace falcon::measure {

struct LinkRate {
  double raw_bytes_per_s = 0;        // after line coding, before packet overhead
  double practical_bytes_per_s = 0;  // what healthy links of the kind are seen at
  std::string source;                // of the practical figure
};

/// Who copies over a PCIe link.
enum class PcieUse {
  kHostToDevice,
  kDeviceToHost,
  kPeersBelowSwitch,    // PIX, PXB
  kPeersAcrossComplex,  // PHB, NODE, SYS
};

/// Raw bytes/s of a link of this PCIe generation (1 to 6) and width. Missing for another
/// generation.
Measured<double> pcie_raw_rate(int generation, int width);

/// Of such a link. Widths below x16 take the ratio of x16.
/// Missing for another generation.
Measured<LinkRate> pcie_rate(int generation, int width, PcieUse use);

/// Of `links` links of NVLink between two GPUs of this compute capability ("9.0"). Missing for one
/// that has no NVLink, or is not known here.
Measured<LinkRate> nvlink_rate(int links, std::string_view compute_capability);

}  // namespace falcon::measure
