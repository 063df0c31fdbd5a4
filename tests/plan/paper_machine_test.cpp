// The paper's machine planned completely: its five configurations, and machines with a fault.
#include "paper_machine.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "plan/make.h"
#include "plan/places.h"
#include "plan/resolve.h"

namespace falcon::plan {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

// As the launcher plans; the data set is made up.
Plan planned(const std::string& topology, const Host& host, const SystemFile& system,
             const std::string& storage = "", std::optional<std::int64_t> devices = {}) {
  RunSpec given;
  given.name = "paper";
  given.model = "bert_large";
  given.topology.name = topology;
  given.devices = devices;
  given.storage = storage;
  const Placement placement = place(given.topology, given.devices, host, system);
  const ResolvedSpec resolved =
      resolve(given, {}, ".", static_cast<int>(placement.devices.size()), placement.on_gpu());
  DataFacts data;
  data.samples = 88524;
  Plan plan = make(resolved, placement, host, data, "id");
  plan.places = make_places(placement, host, system, false, storage);
  for (const Finding& finding : find_in_places(plan.places, host, system)) {
    plan.findings.push_back(finding);
  }
  return plan;
}

std::string refusal(const std::string& topology, const Host& host, const SystemFile& system) {
  try {
    planned(topology, host, system);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kHost);
    return error.what();
  }
  ADD_FAILURE() << "was accepted";
  return {};
}

std::vector<std::string> buses(const Plan& plan) {
  std::vector<std::string> found;
  for (const GpuPlace& gpu : plan.places.gpus) found.push_back(gpu.pci_address.substr(5, 2));
  return found;
}

std::vector<std::string> verdicts(const Plan& plan) {
  std::vector<std::string> found;
  for (const GpuPlace& gpu : plan.places.gpus) found.push_back(gpu.verdict);
  return found;
}

std::map<std::string, int> pair_classes(const Plan& plan) {
  std::map<std::string, int> counts;
  for (const PairPlace& pair : plan.places.pairs) {
    ++counts[pair.pair_class.value.value_or(pair.pair_class.reason)];
  }
  return counts;
}

std::vector<std::string> findings(const Plan& plan) {
  std::vector<std::string> found;
  for (const Finding& finding : plan.findings) {
    if (finding.severity != "info") found.push_back(finding.id);
  }
  return found;
}

const GpuPlace& gpu_named(const Plan& plan, const std::string& name) {
  return *std::find_if(plan.places.gpus.begin(), plan.places.gpus.end(),
                       [&](const GpuPlace& gpu) { return gpu.name == name; });
}

TEST(PaperMachine, LocalGpusAreTheEightOnTheBoard) {
  const Plan plan = planned("localGPUs", paper_host(), paper_system());
  EXPECT_THAT(buses(plan), ElementsAre("1a", "1b", "3d", "3e", "88", "89", "b2", "b3"));
  EXPECT_THAT(verdicts(plan), Each("matched"));
  EXPECT_THAT(pair_classes(plan), ElementsAre(Pair("L-L", 28)));
  EXPECT_EQ(plan.places.pairs[2].path.value, "NV2") << "GPU 0 and GPU 3 of the cube mesh";
  EXPECT_THAT(plan.places.order, HasSubstr("(0 steps between places)"));
  EXPECT_EQ(plan.global_batch, 48);
  EXPECT_EQ(plan.ranks[7].numa_node.value, 1);
  EXPECT_THAT(findings(plan), IsEmpty());
}

TEST(PaperMachine, HybridGpusAreFourOfEach) {
  const Plan plan = planned("hybridGPUs", paper_host(), paper_system());
  EXPECT_THAT(buses(plan), ElementsAre("1a", "1b", "3d", "3e", "60", "61", "62", "63"));
  EXPECT_THAT(verdicts(plan), Each("matched"));
  EXPECT_THAT(pair_classes(plan),
              ElementsAre(Pair("F-F same drawer", 6), Pair("F-L", 16), Pair("L-L", 6)));
  EXPECT_THAT(plan.places.order, AllOf(HasSubstr("local3 = falcon0"), HasSubstr("(2 steps")));
}

TEST(PaperMachine, FalconGpusAreBothDrawersEachBehindItsUplink) {
  const Plan plan = planned("falconGPUs", paper_host(), paper_system());
  EXPECT_THAT(buses(plan), ElementsAre("60", "61", "62", "63", "da", "db", "dc", "dd"));
  EXPECT_THAT(verdicts(plan), Each("matched"));
  EXPECT_THAT(pair_classes(plan),
              ElementsAre(Pair("F-F cross drawer", 16), Pair("F-F same drawer", 12)));
  ASSERT_EQ(plan.places.uplinks.size(), 2u);
  const SharedUplink& uplink = plan.places.uplinks[1];
  EXPECT_EQ(uplink.name, "falcon drawer 2 cable2");
  EXPECT_EQ(uplink.root_port, "0000:d7:00.0");
  EXPECT_THAT(uplink.devices, ElementsAre("falcon4", "falcon5", "falcon6", "falcon7"));
  EXPECT_NEAR(*uplink.raw_gb_per_s, 31.51, 0.01);
  EXPECT_THAT(plan.places.order, HasSubstr("(2 steps between places)"));
}

TEST(PaperMachine, LocalNvmeAndFalconNvmeAreTheDrivesThatCarryTheirMounts) {
  const Host host = paper_host(as_it_is, kPaperMounts);
  const Plan local = planned("localGPUs", host, paper_system(), "localNVMe");
  EXPECT_EQ(local.places.storage.value->verdict, "matched") << local.places.storage.value->evidence;
  EXPECT_EQ(local.places.storage.value->pci_address.value, "0000:ca:00.0");
  const Plan falcon = planned("localGPUs", host, paper_system(), "falconNVMe");
  EXPECT_EQ(falcon.places.storage.value->verdict, "matched");
  EXPECT_THAT(*falcon.places.storage.value->disks, ElementsAre("nvme1n1"));
  EXPECT_EQ(falcon.places.storage.value->root_port.value, "0000:d7:00.0");
}

TEST(PaperMachine, AStorageOnAnotherDeviceIsAMismatch) {
  const Host host = paper_host(as_it_is, kPaperMounts);
  SystemFile system = paper_system();
  std::swap(system.storage["localNVMe"].mount, system.storage["falconNVMe"].mount);
  const auto verdict_of = [&](const char* name) {
    return *planned("localGPUs", host, system, name).places.storage;
  };
  EXPECT_EQ(verdict_of("falconNVMe").verdict, "mismatched");
  EXPECT_THAT(verdict_of("falconNVMe").evidence,
              HasSubstr("lies on nvme0n1, declared is /dev/nvme1n1"));
  for (auto& [name, storage] : system.storage) storage.device.clear();
  EXPECT_EQ(verdict_of("falconNVMe").verdict, "mismatched");
  EXPECT_THAT(verdict_of("falconNVMe").evidence, HasSubstr("where no chassis is plugged in"));
  EXPECT_EQ(verdict_of("localNVMe").verdict, "mismatched");
  EXPECT_THAT(verdict_of("localNVMe").evidence, HasSubstr("where a chassis is plugged in"));
}

TEST(PaperMachine, WithoutAMountTableTheDeviceAloneCanContradict) {
  SystemFile system = paper_system();
  const Host host = paper_host();
  EXPECT_EQ(planned("localGPUs", host, system, "falconNVMe").places.storage.value->verdict,
            "unknown");
  system.storage["falconNVMe"].device = "/dev/nvme0n1";
  EXPECT_EQ(planned("localGPUs", host, system, "falconNVMe").places.storage.value->verdict,
            "mismatched");
}

TEST(PaperMachine, AnUnpluggedDrawerIsNamed) {
  const Host host = paper_host_without({"da", "db", "dc", "dd"});
  EXPECT_THAT(refusal("falconGPUs", host, paper_system()),
              AllOf(HasSubstr("4 of 8 GPUs are not on this host"),
                    HasSubstr("falcon4 (0000:da:00.0, drawer 2 of falcon)"),
                    HasSubstr("no GPU of drawer 2 of falcon is here"), HasSubstr("0000:60:00.0")));
  const Plan plan = planned("hybridGPUs", host, paper_system());
  EXPECT_THAT(findings(plan), ElementsAre("drawer_incomplete"));
  EXPECT_THAT(plan.findings.front().evidence, HasSubstr("0 of 4"));
}

TEST(PaperMachine, ADrawerWithOneGpuLessSaysWhich) {
  const Host host = paper_host_without({"db"});
  EXPECT_THAT(refusal("falconGPUs", host, paper_system()),
              AllOf(HasSubstr("1 of 8 GPUs is not on this host: falcon5"),
                    Not(HasSubstr("no GPU of drawer"))));
  const Plan plan = planned("localGPUs", host, paper_system());
  EXPECT_EQ(plan.findings.front().id, "drawer_incomplete");
  EXPECT_THAT(plan.findings.front().evidence, HasSubstr("3 of 4; missing: falcon5"));
}

TEST(PaperMachine, AnotherBoardInASlotIsASwap) {
  SystemFile system = paper_system();
  for (const Gpu& gpu : paper_host().gpus) {
    for (auto& [name, declared] : system.gpus) {
      if (declared.pci_address == gpu.pci_address) declared.uuid = gpu.uuid;
    }
  }
  EXPECT_THAT(verdicts(planned("falconGPUs", paper_host(), system)), Each("matched"));
  const Host other = paper_host([](const std::string& line) {
    return replaced(line, "GPU-00000000-0000-0000-0000-000000000006", "GPU-other");
  });
  EXPECT_THAT(
      refusal("falconGPUs", other, system),
      HasSubstr("at the address of falcon2 is GPU-other instead of GPU-00000000-0000-0000-0000-"
                "000000000006: was it swapped?"));
  const Host exchanged = paper_host([](const std::string& line) {
    if (line.find("00000000:62:00.0") != std::string::npos) return replaced(line, ":62:", ":63:");
    return replaced(line, "00000000:63:", "00000000:62:");
  });
  const Plan plan = planned("falconGPUs", exchanged, system);
  EXPECT_EQ(gpu_named(plan, "falcon2").verdict, "mismatched");
  EXPECT_THAT(gpu_named(plan, "falcon2").evidence, HasSubstr("moved or swapped"));
  EXPECT_EQ(gpu_named(plan, "falcon1").verdict, "matched");
}

TEST(PaperMachine, NarrowLinksAreFindings) {
  const Host host = paper_host([](const std::string& line) {
    if (line.find("0000:61:00.0") == std::string::npos) return line;
    return replaced(line, "current_link_width: 16", "current_link_width: 8");
  });
  const Plan plan = planned("falconGPUs", host, paper_system());
  EXPECT_THAT(findings(plan), ElementsAre("pcie_link_degraded"));
  EXPECT_EQ(gpu_named(plan, "falcon1").link_width.value, 8);
  EXPECT_EQ(gpu_named(plan, "falcon1").link_width_max.value, 16);
  const Host cable = paper_host([](const std::string& line) {
    if (line.find("/0000:d8:00.0/current_link_width") == std::string::npos) return line;
    return replaced(line, ": 16", ": 4");
  });
  const Plan behind = planned("falconGPUs", cable, paper_system());
  EXPECT_THAT(findings(behind), ElementsAre("host_link_degraded"));
  EXPECT_NEAR(*behind.places.uplinks[1].raw_gb_per_s, 7.88, 0.01);
  EXPECT_THAT(findings(planned("localGPUs", cable, paper_system())), IsEmpty());
}

TEST(PaperMachine, GpusOfTheBoardDeclaredFalconAreMismatched) {
  SystemFile system = paper_system();
  for (const char* name : {"local0", "local1"}) {
    SystemGpu& gpu = system.gpus.at(name);
    gpu = {gpu.pci_address, "", "falcon", "falcon", 1, "cable1", 7, false};
  }
  system.topologies["falconGPUs"] = {"local0", "local1", "falcon0"};
  const Plan plan = planned("falconGPUs", paper_host(), system);
  EXPECT_THAT(verdicts(plan), ElementsAre("mismatched", "mismatched", "matched"));
  EXPECT_THAT(plan.places.gpus[0].evidence,
              HasSubstr("behind root port 0000:17:00.0, while host link cable1 of drawer 1"));
  for (auto& [name, chassis] : system.chassis) chassis.drawers.clear();
  const Plan portless = planned("falconGPUs", paper_host(), system);
  EXPECT_EQ(portless.places.gpus[0].verdict, "mismatched");
  EXPECT_THAT(portless.places.gpus[0].evidence, HasSubstr("NVLink"));
}

TEST(PaperMachine, GpusOfTheChassisDeclaredLocalAreMismatched) {
  SystemFile system = paper_system();
  for (const char* name : {"falcon0", "falcon1", "falcon2", "falcon3"}) {
    SystemGpu& gpu = system.gpus.at(name);
    gpu = {gpu.pci_address, "", "local", "", {}, "", {}, false};
  }
  system.topologies["localGPUs"] = {"local[0-3]", "falcon[0-3]"};
  const Plan plan = planned("localGPUs", paper_host(), system);
  EXPECT_EQ(gpu_named(plan, "local0").verdict, "matched");
  EXPECT_EQ(gpu_named(plan, "falcon3").verdict, "mismatched");
  EXPECT_THAT(gpu_named(plan, "falcon3").evidence,
              HasSubstr("behind root port 0000:5d:00.0, where host link cable1"));
  for (auto& [name, chassis] : system.chassis) chassis.drawers.clear();
  const Plan portless = planned("localGPUs", paper_host(), system);
  EXPECT_EQ(gpu_named(portless, "falcon3").verdict, "mismatched") << "as the switch of drawer 2";
  EXPECT_THAT(gpu_named(portless, "falcon3").evidence, HasSubstr("of the same kind"));
}

TEST(PaperMachine, WithoutPortsTheChassisIsProvedByWhatTheBoardHas) {
  SystemFile system = paper_system();
  system.chassis.clear();
  EXPECT_THAT(verdicts(planned("falconGPUs", paper_host(), system)), Each("matched"));
  for (auto& [name, gpu] : system.gpus) gpu.drawer.reset();
  const Plan plan = planned("falconGPUs", paper_host(), system);
  EXPECT_EQ(plan.places.pairs[0].pair_class.has_value(), false) << "the drawers are not known";
}

TEST(PaperMachine, HybridWithoutAnEntryIsHalfAndHalfWithAnyNumber) {
  SystemFile system = paper_system();
  system.topologies.clear();
  EXPECT_THAT(buses(planned("hybridGPUs", paper_host(), system, "", 4)),
              ElementsAre("1a", "1b", "60", "61"));
  EXPECT_EQ(planned("hybridGPUs", paper_host(), system).places.gpus.size(), 16u);
  EXPECT_THAT(buses(planned("falconGPUs", paper_host(), system, "", 5)),
              ElementsAre("60", "61", "62", "63", "da"));
}

}  // namespace
}  // namespace falcon::plan
