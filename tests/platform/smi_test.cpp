// Outputs of nvidia-smi.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "platform/dump/read_gpu_csv.h"
#include "platform/dump/read_nvlink.h"
#include "platform/dump/read_smi_query.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;

constexpr const char* kQuery =
    "==============NVSMI LOG==============\n"
    "Driver Version                            : 555.42.02\n"
    "Attached GPUs                             : 1\n"
    "GPU 00000000:68:00.0\n"
    "    Product Name                          : NVIDIA A100-SXM4-80GB\n"
    "    MIG Mode\n"
    "        Current                           : Enabled\n"
    "    MIG Device\n"
    "        Index                             : 0\n"
    "        GPU Instance ID                   : 3\n"
    "        Device Attributes\n"
    "            Shared\n"
    "                Multiprocessor count      : 14\n"
    "        FB Memory Usage\n"
    "            Total                         : 19968 MiB\n"
    "    MIG Device\n"
    "        Index                             : 1\n"
    "    PCI\n"
    "        Bus Id                            : 00000000:68:00.0\n"
    "        GPU Link Info\n"
    "            PCIe Generation\n"
    "                Max                       : 4\n"
    "                Current                   : 1\n"
    "            Link Width\n"
    "                Max                       : 16x\n"
    "    ECC Mode\n"
    "        Current                           : Disabled\n"
    "    Utilization\n"
    "        Gpu                               : N/A\n"
    "    GPU Power Readings\n"
    "        Current Power Limit               : 500.00 W\n"
    "    GPU Memory Power Readings \n"
    "        Current Power Limit               : N/A\n";

TEST(SmiText, LabelsAreReadBySection) {
  EXPECT_TRUE(begins_smi_text("==============NVSMI LOG=============="));
  const SmiReport report = read_smi_text(kQuery);
  EXPECT_EQ(report.driver, "555.42.02");
  EXPECT_EQ(report.cuda, std::nullopt);
  ASSERT_EQ(report.gpus.size(), 1u);
  const SmiGpu& gpu = report.gpus[0];
  EXPECT_EQ(gpu.bus_id, "00000000:68:00.0");
  EXPECT_EQ(gpu.gen_max, "4");
  EXPECT_EQ(gpu.gen_cur, "1");
  EXPECT_EQ(gpu.width_max, "16x");
  EXPECT_EQ(gpu.width_cur, std::nullopt);
  EXPECT_EQ(gpu.ecc, "Disabled");
  EXPECT_EQ(gpu.power_limit, "500.00 W");
  EXPECT_TRUE(says_nothing(gpu.utilization));
}

TEST(SmiText, MigDevicesHaveTheirOwnFields) {
  const SmiGpu gpu = read_smi_text(kQuery).gpus.at(0);
  EXPECT_EQ(gpu.mig, "Enabled");
  ASSERT_EQ(gpu.mig_devices.size(), 2u);
  EXPECT_EQ(gpu.mig_devices[0].gpu_instance, "3");
  EXPECT_EQ(gpu.mig_devices[0].multiprocessors, "14");
  EXPECT_EQ(gpu.mig_devices[0].memory_total, "19968 MiB");
  EXPECT_EQ(gpu.mig_devices[1].index, "1");
}

TEST(SmiText, ALastGpuThatIsCutOffIsRefused) {
  std::string text = "==NVSMI LOG==\nGPU 00000000:01:00.0\n";
  for (int i = 0; i < 40; ++i) text += "    Field " + std::to_string(i) + "   : 1\n";
  text += "GPU 00000000:02:00.0\n    Field 0    : 1\n";
  EXPECT_THROW(read_smi_text(text), Error);
}

TEST(SmiXml, TagsOfBothGenerationsAndAbsentValues) {
  const SmiReport report =
      read_smi_xml(R"(<?xml version="1.0" ?><!DOCTYPE nvidia_smi_log SYSTEM "x.dtd">
    <nvidia_smi_log><driver_version>515.1</driver_version><attached_gpus>4</attached_gpus>
    <gpu id="00000000:01:00.0"><product_name>Tesla T4</product_name>
    <clocks_throttle_reasons/><power_readings><power_draw>N/A</power_draw>
    <power_limit>70.00 W</power_limit></power_readings><fan_speed>N/A</fan_speed></gpu></nvidia_smi_log>)");
  EXPECT_EQ(report.gpus.size(), 1u);  // not what attached_gpus says: a selection was printed
  EXPECT_EQ(report.throttle_tag, "clocks_throttle_reasons");
  EXPECT_THAT(report.power_tags, ElementsAre("power_readings"));
  EXPECT_THAT(report.na_tags, ElementsAre("fan_speed", "power_draw"));
  EXPECT_EQ(report.gpus[0].bus_id, "00000000:01:00.0");
  EXPECT_EQ(report.gpus[0].power_limit, "70.00 W");
  EXPECT_EQ(report.gpus[0].gen_max, std::nullopt);
  EXPECT_EQ(report.cuda, std::nullopt);
}

TEST(SmiTable, GpusDriverAndCut) {
  const std::string table =
      "| NVIDIA-SMI 575.51.03     Driver Version: 575.51.03      CUDA Version: 12.9     |\n"
      "|   0  NVIDIA RTX 6000 Ada Gene...    Off |   00000000:C1:00.0 Off |   Off |\n"
      "| 30%   31C    P8              5W /  300W |       2MiB /  49140MiB |  0%   |\n"
      "+-----------------------------------------+\n\n";
  EXPECT_TRUE(begins_smi_table(table.substr(0, table.find("\n"))));
  const SmiReport report = read_smi_table(table);
  EXPECT_EQ(report.driver, "575.51.03");
  EXPECT_EQ(report.cuda, "12.9");
  ASSERT_EQ(report.gpus.size(), 1u);
  EXPECT_EQ(report.gpus[0].bus_id, "00000000:C1:00.0");
  EXPECT_EQ(report.gpus[0].pstate, "P8");
  EXPECT_EQ(report.gpus[0].power_limit, "300.00 W");
  EXPECT_EQ(report.gpus[0].name, std::nullopt);  // it is cut to its column
  EXPECT_THROW(read_smi_table(table.substr(0, table.find("+--"))), Error);
}

TEST(GpuCsv, ColumnsByNameAndRowsOfManyMoments) {
  const std::string text =
      "timestamp, index, pci.bus_id, pcie.link.gen.current, pcie.link.gen.max, power.limit [W]\n"
      "t0, 0, 00000000:17:00.0, 1, 4, 450.00\n"
      "t0, 1, 00000000:18:00.0, 4, [N/A], [Not Supported]\n"
      "t1, 0, 00000000:17:00.0, 4, 4, 450.00\n";
  EXPECT_TRUE(begins_gpu_csv("timestamp, index, power.limit [W]"));
  const std::vector<CsvGpu> gpus = read_gpu_csv(text);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0].gen_cur, 4);  // the highest seen
  EXPECT_EQ(gpus[1].gen_max, std::nullopt);
  EXPECT_EQ(gpus[1].power_limit_w, std::nullopt);
  EXPECT_THROW(read_gpu_csv("index, name, uuid\n0, A\n"), Error);
  EXPECT_FALSE(begins_gpu_csv("a, b"));
  EXPECT_THROW(read_gpu_csv("index, name\n"), Error);  // no row, so no count
}

TEST(Nvlink, StatesAndRemotes) {
  const std::vector<NvlinkGpu> states = read_nvlink(
      "GPU 0: Tesla V100 (UUID: GPU-0)\n\t Link 0: 25.781 GB/s\n\t Link 1: <inactive>\nGPU 1: T4 "
      "(UUID: GPU-1)\n");
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[0].active, 1);
  EXPECT_EQ(states[0].inactive, 1);
  EXPECT_THAT(states[0].gb_per_s, ElementsAre(25.781));
  EXPECT_EQ(states[1].active, 0);
  const std::vector<NvlinkGpu> remotes =
      read_nvlink("GPU 0: H200 (UUID: G)\n\t Link 0: Remote Device FFFFFFFF:FF:FF.0: Link 3\n");
  EXPECT_THAT(remotes.at(0).remotes, ElementsAre("FFFFFFFF:FF:FF.0"));
}

}  // namespace
}  // namespace falcon::platform
