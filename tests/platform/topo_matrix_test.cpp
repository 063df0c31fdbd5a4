#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "platform/dump/read_topo_matrix.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;

TEST(TopoMatrix, TabsAndEscapesAndAnEmptyColumn) {
  const TopoMatrix topo = read_topo_matrix(
      "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\r\n"
      "GPU0\t X \tNV18\tPIX\t0-31\t0\t\tN/A\r\n"
      "GPU1\tNV18\t X \tSYS\tN/A\t\t\tN/A\r\n"
      "NIC0\tPIX\tSYS\t X \t\t\t\t\r\n");
  EXPECT_THAT(topo.gpus, ElementsAre("GPU0", "GPU1"));
  EXPECT_THAT(topo.nics, ElementsAre("NIC0"));
  EXPECT_EQ(topo.cells[0][1], "NV18");
  EXPECT_THAT(topo.nic_cells[0], ElementsAre("PIX", "SYS"));
  EXPECT_THAT(topo.cpu_affinity, ElementsAre("0-31", std::nullopt));
  EXPECT_THAT(topo.numa_affinity, ElementsAre("0", std::nullopt));
}

TEST(TopoMatrix, BlanksBetweenColumnsAndNoNumaColumn) {
  const TopoMatrix topo = read_topo_matrix(
      "$ nvidia-smi topo -m\n"
      "        GPU0    GPU1    mlx5_0  CPU Affinity\n"
      "GPU0     X      SOC     PHB     0-13\n"
      "GPU1    SOC      X      SYS     14-27\n");
  EXPECT_EQ(topo.cells[0][1], "SYS");  // its name today
  EXPECT_THAT(topo.numa_affinity, ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(topo.nics, ElementsAre("mlx5_0"));
}

TEST(TopoMatrix, PeerStatusIsAnotherMatrix) {
  const TopoMatrix status = read_topo_matrix(" \tGPU0\tGPU1\t\n GPU0\tX\tCNS\t\n GPU1\tCNS\tX\t\n");
  EXPECT_TRUE(status.is_peer_status);
  EXPECT_EQ(status.cells[0][1], "CNS");
}

TEST(TopoMatrix, ACutMatrixIsRefused) {
  const std::string whole =
      "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPIX\t0-3\nGPU1\tPIX\t X \t0-3\n";
  EXPECT_NO_THROW(read_topo_matrix(whole));
  EXPECT_THROW(read_topo_matrix(whole.substr(0, whole.find("GPU1\tPIX"))), Error);
  EXPECT_THROW(read_topo_matrix(whole.substr(0, whole.size() - 8)), Error);
  EXPECT_FALSE(begins_topo_matrix("GPU 0: A (UUID: B)"));
}

TEST(TopoMatrix, AHeaderThatLostAPartIsRefused) {
  for (const char* header : {"\tGPU0\tGPy\tNUMA Affinity\tGPU NUMA ID\n",
                             "\tGPU0\tGPU2\tCPU Affinity\n", "\tGPU0\tCPU Affinity\n"}) {
    EXPECT_THROW(
        read_topo_matrix(std::string(header) + "GPU0\t X \tPIX\t0\t0\t\nGPU1\tPIX\t X \t0\t0\t\n"),
        Error)
        << header;
  }
}

TEST(TopoMatrix, AnUnknownCellIsAbsent) {
  const TopoMatrix topo =
      read_topo_matrix("\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tERR\t0\nGPU1\tERR\tX\t0\n");
  EXPECT_EQ(topo.cells[0][1], std::nullopt);
}

TEST(TopoMatrix, LabelsOfNvlink) {
  EXPECT_EQ(nvlinks_of("NV12"), 12);
  EXPECT_EQ(nvlinks_of("NV"), 0);
  EXPECT_EQ(nvlinks_of("NODE"), 0);
  EXPECT_EQ(nvlinks_of("NV1x"), 0);
}

TEST(TopoMatrix, ALegendWithoutNvlinkIsOfPcieAlone) {
  const std::string rows = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\t0\nGPU1\tSYS\t X \t0\n";
  const std::string legend = "Legend:\n  SYS  = a\n  PIX  = b\n";
  EXPECT_FALSE(read_topo_matrix(rows).is_pcie_only);
  EXPECT_TRUE(read_topo_matrix(rows + "Legend:").is_pcie_only);  // cut off
  EXPECT_TRUE(read_topo_matrix(rows + legend).is_pcie_only);
  EXPECT_FALSE(read_topo_matrix(rows + legend + "  NV#  = c\n").is_pcie_only);
  // The oldest drivers knew no NVLink.
  EXPECT_FALSE(read_topo_matrix(rows + legend + "  SOC  = d\n").is_pcie_only);
}

TEST(TopoMatrix, AHeaderIsNoRowAndNoProse) {
  for (const char* line :
       {"\tGPU0\tGPU1\tCPU Affinity", "GPU0 GPU1", "| | GPU0 | GPU1 |", " \tGPU0\t"})
    EXPECT_TRUE(begins_topo_matrix(line)) << line;
  for (const char* line : {"GPU0\t X \tPIX\t0", "GPU1 OK X", "GPU0", "GPU0 is the first", ""})
    EXPECT_FALSE(begins_topo_matrix(line)) << line;
}

}  // namespace
}  // namespace falcon::platform
