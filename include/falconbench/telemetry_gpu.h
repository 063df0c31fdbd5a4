// Parts of a run's telemetry: one GPU over the measured window.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/host.h"
#include "falconbench/measured.h"
#include "falconbench/telemetry_parts.h"

namespace falcon {

struct ThrottleShare {
  std::string reason;
  double share_pct = 0;
  std::string basis;
};
template <class V>
void visit_fields(ThrottleShare& t, V& v) {
  v.field("reason", t.reason, "why clocks were held down (idle: nothing to do)");
  v.field("share_pct", t.share_pct, "share of the window");
  v.field("basis", t.basis, "counter (the driver's own, exact) or sampled (share of readings)");
}

/// Errors of the board's memory. Counts are the driver's, since it was loaded; `new_` ones came in
/// the measured window.
struct GpuMemoryHealth {
  Measured<std::int64_t> ecc_corrected, ecc_uncorrected, new_ecc_corrected, new_ecc_uncorrected;
  Measured<std::int64_t> remapped_rows_corrected, remapped_rows_uncorrected;
  Measured<bool> remap_pending, remap_failed, page_retirement_pending;
};
template <class V>
void visit_fields(GpuMemoryHealth& h, V& v) {
  v.field("ecc_corrected", h.ecc_corrected, "memory errors that were put right, since driver load");
  v.field("ecc_uncorrected", h.ecc_uncorrected, "memory errors that were not, since driver load");
  v.field("new_ecc_corrected", h.new_ecc_corrected, "the first, in the window");
  v.field("new_ecc_uncorrected", h.new_ecc_uncorrected, "the second, in the window");
  v.field("remapped_rows_corrected", h.remapped_rows_corrected,
          "rows replaced because of corrected errors, in the board's life");
  v.field("remapped_rows_uncorrected", h.remapped_rows_uncorrected,
          "rows replaced because of uncorrected errors, in the board's life");
  v.field("remap_pending", h.remap_pending, "a row waits for a reset to be replaced");
  v.field("remap_failed", h.remap_failed, "a row could not be replaced");
  v.field("page_retirement_pending", h.page_retirement_pending,
          "a page waits for a reset to be retired (boards before row remapping)");
}

/// The PCIe link while the GPU worked: readings that found it idle do not count, because many
/// boards slow their link down then.
struct GpuLinkTelemetry {
  MeasuredSummary generation, width;
  Measured<std::int64_t> generation_max, width_max, replays, recoveries;
};
template <class V>
void visit_fields(GpuLinkTelemetry& l, V& v) {
  v.field("generation", l.generation, "link generation; a mean between whole numbers: it changed");
  v.field("width", l.width, "lanes in use");
  v.field("generation_max", l.generation_max, "largest generation of GPU and slot together");
  v.field("width_max", l.width_max, "largest width of GPU and slot together");
  v.field("replays", l.replays, "packets sent again in the window");
  v.field("recoveries", l.recoveries, "times the link was trained anew in the window");
}

struct GpuTelemetry {
  std::string uuid, pci_address;
  MeasuredSummary gpu_busy_pct, memory_busy_pct, sm_active_pct, tensor_active_pct, dram_active_pct,
      memory_used_bytes;
  Measured<std::int64_t> memory_peak_bytes;
  MeasuredSummary pcie_rx_bytes_per_s, pcie_tx_bytes_per_s;
  Measured<std::string> pcie_basis;
  MeasuredSummary nvlink_rx_bytes_per_s, nvlink_tx_bytes_per_s;
  Measured<std::string> nvlink_basis;
  GpuLinkTelemetry pcie_link;
  MeasuredSummary power_w;
  Measured<double> power_limit_w, power_limit_default_w, energy_j, energy_j_per_sample;
  MeasuredSummary sm_clock_mhz, memory_clock_mhz;
  Measured<double> sm_clock_max_mhz;
  MeasuredSummary temperature_c, memory_temperature_c;
  Measured<std::vector<ThrottleShare>> throttle;
  GpuMemoryHealth memory_health;
  Measured<std::vector<GpuProcess>> foreign_processes;
};
template <class V>
void visit_fields(GpuTelemetry& g, V& v) {
  v.field("uuid", g.uuid, "GPU UUID");
  v.field("pci_address", g.pci_address, "PCI address");
  v.field("gpu_busy_pct", g.gpu_busy_pct, "time with a kernel resident: not a measure of work");
  v.field("memory_busy_pct", g.memory_busy_pct, "time with device memory read or written");
  v.field("sm_active_pct", g.sm_active_pct, "share of multiprocessors with work, over time");
  v.field("tensor_active_pct", g.tensor_active_pct, "time with tensor cores at work");
  v.field("dram_active_pct", g.dram_active_pct,
          "device memory bandwidth used, of what is possible");
  v.field("memory_used_bytes", g.memory_used_bytes, "device memory in use, by all processes");
  v.field("memory_peak_bytes", g.memory_peak_bytes, "largest reading of it in the window");
  v.field("pcie_rx_bytes_per_s", g.pcie_rx_bytes_per_s, "PCIe towards the GPU, with protocol");
  v.field("pcie_tx_bytes_per_s", g.pcie_tx_bytes_per_s, "PCIe from the GPU, with protocol");
  v.field("pcie_basis", g.pcie_basis,
          "how PCIe traffic was had: counted (all of it) or sampled (20 ms of each interval)");
  v.field("nvlink_rx_bytes_per_s", g.nvlink_rx_bytes_per_s, "NVLink towards the GPU, all links");
  v.field("nvlink_tx_bytes_per_s", g.nvlink_tx_bytes_per_s, "NVLink from the GPU, all links");
  v.field("nvlink_basis", g.nvlink_basis,
          "what NVLink counts: payload, or with_protocol (with packet overhead)");
  v.field("pcie_link", g.pcie_link, "the PCIe link under load");
  v.field("power_w", g.power_w, "power of the board");
  v.field("power_limit_w", g.power_limit_w, "smallest power limit that was enforced");
  v.field("power_limit_default_w", g.power_limit_default_w, "power limit of a board left alone");
  v.field("energy_j", g.energy_j, "energy of the window by the board's counter");
  v.field("energy_j_per_sample", g.energy_j_per_sample, "the same over the samples of this GPU");
  v.field("sm_clock_mhz", g.sm_clock_mhz, "SM clock");
  v.field("memory_clock_mhz", g.memory_clock_mhz, "memory clock");
  v.field("sm_clock_max_mhz", g.sm_clock_max_mhz, "largest SM clock of this board");
  v.field("temperature_c", g.temperature_c, "temperature of the GPU");
  v.field("memory_temperature_c", g.memory_temperature_c, "temperature of its memory");
  v.field("throttle", g.throttle, "why clocks were held down, largest share first");
  v.field("memory_health", g.memory_health, "errors of its memory");
  v.field("foreign_processes", g.foreign_processes,
          "processes on the GPU while sampling that are not of this run");
}

}  // namespace falcon
