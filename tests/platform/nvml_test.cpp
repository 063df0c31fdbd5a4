#include "platform/nvml.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/nvml_gpm.h"
#include "support/fake_host.h"

namespace falcon::platform {
namespace {

using testing::HasSubstr;

constexpr const char* kBoard = R"({"uuid": "GPU-a", "pci": "00000000:3B:00.0", "name": "Fake 80",
  "memory_bytes": 85899345920, "used_bytes": 1000, "reserved_bytes": 500, "gpu_busy_pct": 97,
  "memory_busy_pct": 41, "power_mw": 90268, "pcie_rx_kb_s": 1500, "event_reasons": 1024,
  "counters": {"83": 5000, "186": 77095},
  "codes": {"nvmlDeviceGetTemperature": 3, "field:74": 3}})";

std::string one_board(const std::string& more = "") {
  return std::string(R"({"driver": "580.159.04", "cuda": 13000, "devices": [)") + kBoard + "]" +
         more + "}";
}

TEST(Nvml, LinksOfNvlinkWithTheirPartners) {
  const test::FakeNvml fake(
      R"({"devices": [{"uuid": "GPU-a", "nvlinks": ["00000000:3C:00.0", null, "switch"]}, {"uuid": "GPU-b"}]})");
  const auto nvml = fake.open();
  const auto devices = nvml->devices();
  const auto links = devices.at(0).value->nvlinks();
  ASSERT_TRUE(links.has_value());
  ASSERT_EQ(links.value->size(), 2u);  // the inactive one is none
  EXPECT_EQ(links.value->at(0).partner, "00000000:3C:00.0");
  EXPECT_FALSE(links.value->at(0).is_switch);
  EXPECT_TRUE(links.value->at(1).is_switch);
  EXPECT_THAT(devices.at(1).value->nvlinks().reason, HasSubstr("Not Supported"));
}

TEST(Nvml, AnAbsentLibraryIsNoDriverAndNoError) {
  const Nvml nvml("/nowhere/libnvidia-ml.so.1");
  EXPECT_FALSE(nvml.is_available());
  EXPECT_THAT(nvml.unavailable(), HasSubstr("no NVIDIA driver: /nowhere/libnvidia-ml.so.1"));
  EXPECT_TRUE(nvml.devices().empty());
  EXPECT_EQ(nvml.driver_version().reason, nvml.unavailable());
  EXPECT_FALSE(nvml.device_by_uuid("GPU-a").has_value());
}

TEST(Nvml, ALibraryThatIsNotNvmlIsRefused) {
  const Nvml nvml("libm.so.6");
  EXPECT_EQ(nvml.unavailable(), "libm.so.6 is not NVML: it has no nvmlInit_v2");
}

TEST(Nvml, InitialisationThatFailsSaysWhy) {
  const test::FakeNvml fake(one_board(R"(, "init": 18)"));
  EXPECT_THAT(fake.open()->unavailable(), HasSubstr("mismatch (NVML code 18)"));
  EXPECT_THAT(fake.open()->unavailable(), HasSubstr("restart the host"));
}

TEST(Nvml, TheLibraryIsChosenByTheEnvironment) {
  const test::FakeNvml fake(one_board());
  const test::WithVariable library("FALCONBENCH_NVML_LIBRARY", test::FakeNvml::library());
  const Nvml nvml;
  EXPECT_EQ(*nvml.driver_version(), "580.159.04");
  EXPECT_EQ(*nvml.driver_cuda_version(), "13.0");
}

TEST(Nvml, ValuesInTheUnitsOfTheirNames) {
  const test::FakeNvml fake(one_board());
  const auto nvml = fake.open();
  const auto device = nvml->device_by_uuid("GPU-a");
  ASSERT_TRUE(device.has_value());
  EXPECT_EQ(*device.value->pci_address(), "0000:3b:00.0");
  EXPECT_EQ(*device.value->compute_capability(), "9.0");
  EXPECT_EQ(device.value->memory().value->used_bytes, 1000);  // without what the driver reserves
  EXPECT_DOUBLE_EQ(device.value->utilization().value->gpu_pct, 97);
  EXPECT_DOUBLE_EQ(*device.value->power_w(), 90.268);
  EXPECT_DOUBLE_EQ(*device.value->energy_j(), 5);
  EXPECT_DOUBLE_EQ(*device.value->pcie_bytes_per_s(nvml::kPcieRx), 1.5e6);
  EXPECT_EQ(*device.value->event_reasons(), 1024U);
}

TEST(Nvml, EachCallAndEachFieldHasItsOwnCode) {
  const test::FakeNvml fake(one_board());
  const auto nvml = fake.open();
  const NvmlDevice device = *nvml->devices().at(0);
  EXPECT_EQ(device.temperature_c().code, nvml::kNotSupported);
  EXPECT_TRUE(device.temperature_c().is_permanent());
  EXPECT_EQ(device.temperature_c().reason, "nvmlDeviceGetTemperature: Not Supported (NVML code 3)");
  const std::array<unsigned, 3> ids = {83, 74, 186};
  const auto fields = device.fields(ids);
  EXPECT_DOUBLE_EQ(*fields[0], 5000);
  EXPECT_EQ(fields[1].reason, "field 74: nvmlDeviceGetFieldValues: Not Supported (NVML code 3)");
  EXPECT_DOUBLE_EQ(*fields[2], 77095);
}

TEST(Nvml, FieldsOfAllLinksHaveAScope) {
  const test::FakeNvml fake(
      R"({"devices": [{"uuid": "GPU-a", "counters": {"138": 1, "138@all": 18}}]})");
  const auto nvml = fake.open();
  const NvmlDevice device = *nvml->devices().at(0);
  const std::array<unsigned, 1> ids = {138};
  EXPECT_DOUBLE_EQ(*device.fields(ids, nvml::kAllLinks)[0], 18);
  EXPECT_DOUBLE_EQ(*device.fields(ids)[0], 1);
}

TEST(Nvml, GpmIsWhatHappenedBetweenTwoSamples) {
  const auto board = [](const std::string& gpm) {
    return R"({"devices": [{"uuid": "GPU-a", "gpm": )" + gpm + "}]}";
  };
  test::FakeNvml fake(board(R"({"time_s": 1, "counters": {"2": 10}})"));
  const auto nvml = fake.open();
  const NvmlDevice device = *nvml->devices().at(0);
  const auto opened = NvmlGpm::open(device);
  ASSERT_TRUE(opened.has_value());
  NvmlGpm& gpm = **opened.value;
  EXPECT_FALSE(*gpm.sample());  // the first
  fake.replace(board(R"({"time_s": 3, "counters": {"2": 110, "5": 1}})"));
  EXPECT_TRUE(*gpm.sample());
  const std::array<unsigned, 2> ids = {2, 5};
  EXPECT_DOUBLE_EQ(*gpm.values(ids)[0], 50);
  EXPECT_TRUE(gpm.values(ids)[1].is_permanent());
  fake.replace(board(R"({"time_s": 3, "counters": {"2": 110}})"));
  EXPECT_TRUE(*gpm.sample());
  EXPECT_EQ(gpm.values(ids)[0].reason, "GPM metric 2: nvmlGpmMetricsGet gave no number");
}

TEST(Nvml, WithoutGpmThereIsAReason) {
  const test::FakeNvml fake(R"({"devices": [{"uuid": "GPU-a"}]})");
  const auto nvml = fake.open();
  const auto opened = NvmlGpm::open(*nvml->devices().at(0));
  EXPECT_TRUE(opened.is_permanent());
  EXPECT_THAT(opened.reason, HasSubstr("this board has none"));
}

TEST(Nvml, ManyProcessesAndMemoryThatIsNotTold) {
  std::string processes = R"({"pid": 5})";
  for (int pid = 100; pid < 250; ++pid) {
    processes += R"(,{"pid": )" + std::to_string(pid) + R"(, "memory_bytes": 7})";
  }
  const test::FakeNvml fake(R"({"devices": [{"uuid": "GPU-a", "processes": [)" + processes +
                            "]}]}");
  const auto nvml = fake.open();
  const auto listed = nvml->devices().at(0).value->processes();
  ASSERT_EQ(listed.value->size(), 151U);
  EXPECT_EQ(listed.value->at(0).memory_bytes.reason, "the driver does not tell");
  EXPECT_EQ(*listed.value->at(150).memory_bytes, 7);
}

TEST(Nvml, ALostGpuIsAnErrorOfItsOwn) {
  const test::FakeNvml fake(
      R"({"devices": [{"uuid": "GPU-a", "power_mw": 1, "lost_after_reads": 2}]})");
  const auto nvml = fake.open();
  const NvmlDevice device = *nvml->devices().at(0);
  EXPECT_TRUE(device.power_w().has_value());
  EXPECT_TRUE(device.memory().has_value());
  EXPECT_TRUE(device.power_w().is_lost());
  EXPECT_TRUE(device.memory().is_lost());
  const std::array<unsigned, 1> ids = {83};
  EXPECT_TRUE(device.fields(ids)[0].is_lost());
  EXPECT_FALSE(device.power_w().is_permanent());
}

}  // namespace
}  // namespace falcon::platform
