// Copies of known size against what the samplers count. Ends with 77, which ctest counts as
// skipped, where there is no GPU.
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <thread>

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/json.h"
#include "falconbench/clock.h"
#include "platform/detect.h"
#include "telemetry/catalog.h"
#include "telemetry/session.h"

namespace falcon::telemetry {
namespace {

constexpr std::int64_t kBlock = std::int64_t{1} << 30;

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// The board that CUDA calls by this ordinal: both name it by its PCI address.
DevicePlan board_of(int ordinal, const Host& host) {
  const auto* properties = at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(ordinal));
  char address[32];
  std::snprintf(address, sizeof address, "%04x:%02x:%02x.0", properties->pciDomainID,
                properties->pciBusID, properties->pciDeviceID);
  for (const Gpu& gpu : host.gpus) {
    if (gpu.pci_address == address) return {"cuda", gpu.uuid, gpu.pci_address, gpu.name};
  }
  ADD_FAILURE() << "NVML has no GPU at " << address;
  return {};
}

SamplerContext context_of_all() {
  SamplerContext context;
  context.nvml = std::make_shared<const platform::Nvml>();
  context.processes = {{::getpid(), "rank 0"}};
  platform::DetectOptions detection;
  detection.nvml = context.nvml;
  const Host host = platform::detect(detection);
  for (int ordinal = 0; ordinal < c10::cuda::device_count(); ++ordinal) {
    context.gpus.push_back(board_of(ordinal, host));
  }
  return context;
}

/// What the samplers saw of some work, in a window with rest at both ends.
Utilization watch(const std::function<void()>& work) {
  Session session(make_samplers(context_of_all(), {{"nvml", "gpm"}}), {});
  session.start();
  sleep_s(1);
  session.begin_window(steady_now_s());
  sleep_s(0.5);
  work();
  sleep_s(0.5);
  session.end_window(steady_now_s());
  sleep_s(0.5);
  session.stop();
  return session.result().utilization;
}

double bytes_of(const MeasuredSummary& rate, const Utilization& utilization) {
  if (!rate.has_value()) return 0;
  return rate.value->mean * *utilization.window_s * rate.value->covered_pct / 100;
}

void show(const char* what, double payload, const MeasuredSummary& rate,
          const Measured<std::string>& basis, const Utilization& utilization) {
  std::cout << what << ": payload " << payload / 1e9 << " GB, counted "
            << bytes_of(rate, utilization) / 1e9 << " GB ("
            << 100 * (bytes_of(rate, utilization) / payload - 1) << " %), basis "
            << basis.value.value_or(basis.reason) << ", covered "
            << (rate.has_value() ? rate.value->covered_pct : 0) << " %\n";
}

/// PCIe bytes hold the protocol: a little more than the payload.
void expect_pcie(const MeasuredSummary& rate, double payload, const Utilization& utilization) {
  ASSERT_TRUE(rate.has_value()) << rate.reason;
  EXPECT_GE(bytes_of(rate, utilization), payload);
  EXPECT_LE(bytes_of(rate, utilization), 1.12 * payload);
}

double copy_blocks(const at::Tensor& from, const at::Tensor& to, int count) {
  const double began_s = steady_now_s();
  for (int i = 0; i < count; ++i) to.copy_(from, true);
  c10::cuda::device_synchronize();
  std::cout << "copied at "
            << static_cast<double>(count * kBlock) / (steady_now_s() - began_s) / 1e9 << " GB/s\n";
  return static_cast<double>(count * kBlock);
}

at::Tensor host_block() {
  return at::empty({kBlock}, at::kByte).pin_memory();
}
at::Tensor device_block(int ordinal) {
  return at::empty({kBlock}, at::TensorOptions().dtype(at::kByte).device(
                                 at::kCUDA, static_cast<c10::DeviceIndex>(ordinal)));
}

TEST(Traffic, HostToDeviceIsReceived) {
  const at::Tensor host = host_block(), device = device_block(0);
  copy_blocks(host, device, 5);
  double payload = 0;
  const Utilization seen = watch([&] { payload = copy_blocks(host, device, 160); });
  const GpuTelemetry& gpu = seen.gpus.at(0);
  show("host to device, rx", payload, gpu.pcie_rx_bytes_per_s, gpu.pcie_basis, seen);
  show("host to device, tx", payload, gpu.pcie_tx_bytes_per_s, gpu.pcie_basis, seen);
  if (gpu.pcie_basis.value == "counted") expect_pcie(gpu.pcie_rx_bytes_per_s, payload, seen);
  EXPECT_GT(gpu.pcie_link.generation.value->mean, 0);
  EXPECT_TRUE(gpu.energy_j.has_value()) << gpu.energy_j.reason;
  std::cout << base::to_json(base::to_value(gpu)) << "\n";
}

// All threads together, at the default interval, without what is read once at the ends.
TEST(Traffic, SamplingTakesLittleOfACore) {
  Session session(make_samplers(context_of_all(), {}), {});
  session.start();
  sleep_s(1);
  const double first_s = session.result().utilization.cost_cpu_s;
  const double began_s = steady_now_s();
  sleep_s(12);
  const Utilization seen = session.result().utilization;
  const double pct = 100 * (seen.cost_cpu_s - first_s) / (steady_now_s() - began_s);
  for (const SourceTelemetry& source : seen.sources) {
    std::cout << source.sampler << " of " << source.scope.substr(0, 8) << ": every "
              << source.interval_ms.value.value_or(0) << " ms, took " << source.read_ms
              << " ms, late " << source.late << "\n";
  }
  std::cout << "sampling threads: " << pct << " % of a core, " << seen.gpus.size() << " GPUs\n";
  EXPECT_LT(pct, 5);
}

TEST(Traffic, DeviceToHostIsSent) {
  const at::Tensor host = host_block(), device = device_block(0);
  copy_blocks(device, host, 5);
  double payload = 0;
  const Utilization seen = watch([&] { payload = copy_blocks(device, host, 160); });
  const GpuTelemetry& gpu = seen.gpus.at(0);
  show("device to host, tx", payload, gpu.pcie_tx_bytes_per_s, gpu.pcie_basis, seen);
  if (gpu.pcie_basis.value == "counted") expect_pcie(gpu.pcie_tx_bytes_per_s, payload, seen);
}

TEST(Traffic, BetweenTwoGpusThePayloadIsCounted) {
  if (c10::cuda::device_count() < 2) GTEST_SKIP() << "needs two GPUs";
  const at::Tensor from = device_block(0), to = device_block(1);
  copy_blocks(from, to, 5);
  double payload = 0;
  const Utilization seen = watch([&] { payload = copy_blocks(from, to, 1500); });
  const GpuTelemetry &sender = seen.gpus.at(0), &receiver = seen.gpus.at(1);
  show("NVLink, sent", payload, sender.nvlink_tx_bytes_per_s, sender.nvlink_basis, seen);
  show("NVLink, received", payload, receiver.nvlink_rx_bytes_per_s, receiver.nvlink_basis, seen);
  show("NVLink, sent back", payload, receiver.nvlink_tx_bytes_per_s, receiver.nvlink_basis, seen);
  if (!sender.nvlink_tx_bytes_per_s.has_value()) {
    GTEST_SKIP() << "no NVLink counter: " << sender.nvlink_tx_bytes_per_s.reason;
  }
  if (sender.nvlink_basis.value != "payload") return;
  EXPECT_NEAR(bytes_of(sender.nvlink_tx_bytes_per_s, seen), payload, 0.03 * payload);
  EXPECT_NEAR(bytes_of(receiver.nvlink_rx_bytes_per_s, seen), payload, 0.03 * payload);
}

// NVML says KB/s, and tools differ in what that is.
TEST(Traffic, TheUnitOfTheThroughputCall) {
  const at::Tensor host = host_block(), device = device_block(0);
  const SamplerContext context = context_of_all();
  const auto board = context.nvml->device_by_uuid(context.gpus.at(0).uuid);
  ASSERT_TRUE(board.has_value()) << board.reason;
  copy_blocks(host, device, 5);
  double sum = 0;
  int count = 0;
  std::thread reader([&] {
    sleep_s(0.3);
    for (; count < 40; ++count) {
      const auto rate = board.value->pcie_bytes_per_s(platform::nvml::kPcieRx);
      if (!rate.has_value()) break;
      sum += *rate;
    }
  });
  const double began_s = steady_now_s();
  const double payload = copy_blocks(host, device, 100);
  const double rate = payload / (steady_now_s() - began_s);
  reader.join();
  if (count == 0) GTEST_SKIP() << "not supported here";
  const double ratio = sum / count / rate;
  std::cout << "throughput call, KB taken as 1000 bytes: " << 100 * (ratio - 1)
            << " % above the payload\n";
  EXPECT_GT(ratio, 0.9);
  EXPECT_LT(ratio, 1.2);
}

}  // namespace
}  // namespace falcon::telemetry

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (c10::cuda::device_count() == 0) return 77;
  return RUN_ALL_TESTS();
}
