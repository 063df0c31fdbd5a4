#include "measure/link_rates.h"

#include <array>
#include <cstddef>

namespace falcon::measure {
namespace {

struct Pcie {
  int generation;
  double gigatransfers_per_s;  // of a lane
  double coding;               // payload bits of a line bit
  std::array<double, 4> seen;  // of raw, by PcieUse
  std::array<std::string_view, 4> sources;
};

constexpr std::string_view kP100Host = "P100, Gen3 x16, pinned: 11.7 and 12.9 GB/s (Microway)";
constexpr std::string_view kV100Falcon =
    "V100, Gen3, below one switch 12.2 and through the root complex 9.8 GB/s (arXiv 2103.10911)";
constexpr std::string_view kAda =
    "RTX 6000 Ada, Gen4 x16: 26.8 and 26.3 GB/s, peers 26.3 (luigifcruz/stelline)";
constexpr std::string_view kH200 =
    "H200, Gen5 x16, pinned: 55.4 and 55.1 GB/s (stas00/ml-engineering)";
constexpr std::string_view kAdaPeers = "no figure of Gen5 peers; the share of raw of Gen4's";

constexpr std::array kPcie{
    Pcie{1,
         2.5,
         8.0 / 10,
         {0.74, 0.82, 0.78, 0.62},
         {kP100Host, kP100Host, kV100Falcon, kV100Falcon}},
    Pcie{
        2, 5, 8.0 / 10, {0.74, 0.82, 0.78, 0.62}, {kP100Host, kP100Host, kV100Falcon, kV100Falcon}},
    Pcie{3,
         8,
         128.0 / 130,
         {0.74, 0.82, 0.78, 0.62},
         {kP100Host, kP100Host, kV100Falcon, kV100Falcon}},
    Pcie{4, 16, 128.0 / 130, {0.85, 0.83, 0.83, 0.83}, {kAda, kAda, kAda, kAda}},
    Pcie{5, 32, 128.0 / 130, {0.88, 0.87, 0.83, 0.83}, {kH200, kH200, kAdaPeers, kAdaPeers}},
    Pcie{6, 64, 242.0 / 256, {0.88, 0.87, 0.83, 0.83}, {kH200, kH200, kAdaPeers, kAdaPeers}},
};

struct Nvlink {
  std::string_view compute_capability;
  double gb_per_s;  // of a link, one way
  double seen;      // of raw
  std::string_view source;
};

constexpr std::string_view kH100Nvlink = "H100, NV18: 371 to 380 of 450 GB/s (NVIDIA/nccl#1264)";
constexpr std::array kNvlinks{
    Nvlink{"6.0", 20, 0.91, "P100, NV2: 36.4 of 40 GB/s (Tartan)"},
    Nvlink{"7.0", 25, 0.96, "V100, NV2: 47.9 of 50 GB/s (Dell reference guide)"},
    Nvlink{"8.0", 25, 0.83, "no figure of the A100; the share of raw of the H100"},
    Nvlink{"8.6", 14.0625, 0.83, "no figure of the pair bridge; the share of raw of the H100"},
    Nvlink{"9.0", 25, 0.83, kH100Nvlink},
    Nvlink{"10.0", 50, 0.83, "no figure of the B200; the share of raw of the H100"},
};

const Pcie* find_pcie(int generation, int width) {
  for (const Pcie& row : kPcie) {
    if (row.generation == generation && width > 0) return &row;
  }
  return nullptr;
}

double raw_of(const Pcie& row, int width) {
  return row.gigatransfers_per_s * 1e9 * width * row.coding / 8;
}

std::string unknown_pcie(int generation, int width) {
  return "no figures are known for PCIe Gen" + std::to_string(generation) + " x" +
         std::to_string(width);
}

}  // namespace

Measured<double> pcie_raw_rate(int generation, int width) {
  const Pcie* row = find_pcie(generation, width);
  return row == nullptr ? Measured<double>::missing(unknown_pcie(generation, width))
                        : Measured<double>(raw_of(*row, width));
}

Measured<LinkRate> pcie_rate(int generation, int width, PcieUse use) {
  const Pcie* row = find_pcie(generation, width);
  if (row == nullptr) return Measured<LinkRate>::missing(unknown_pcie(generation, width));
  const auto at = static_cast<std::size_t>(use);
  const double raw = raw_of(*row, width);
  return LinkRate{raw, row->seen[at] * raw, std::string(row->sources[at])};
}

Measured<LinkRate> nvlink_rate(int links, std::string_view compute_capability) {
  for (const Nvlink& row : kNvlinks) {
    if (row.compute_capability != compute_capability) continue;
    const double raw = row.gb_per_s * 1e9 * links;
    return LinkRate{raw, row.seen * raw, std::string(row.source)};
  }
  return Measured<LinkRate>::missing("no figures are known for NVLink of compute capability " +
                                     std::string(compute_capability));
}

}  // namespace falcon::measure
