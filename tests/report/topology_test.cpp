// The report's topology: places and transports, and what is made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_run.h"
#include "report/summary.h"

namespace falcon::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

GpuPlace place(const DevicePlan& device, const std::string& name, const std::string& attach) {
  GpuPlace gpu;
  gpu.name = name;
  gpu.uuid = device.uuid;
  gpu.pci_address = device.pci_address;
  gpu.attach = attach;
  gpu.verdict = kMatched;
  gpu.evidence = "made";
  return gpu;
}

// local0 and falcon0, a pair F-L.
void put_places(MadeRun& run) {
  run.plan.spec.topology.name = "hybridGPUs";
  Places& places = run.plan.places;
  places.gpus = {place(run.plan.ranks[0].devices[0], "local0", "local"),
                 place(run.plan.ranks[1].devices[0], "falcon0", "falcon")};
  PairPlace pair{0, 1, std::string("F-L"), std::string("NODE")};
  places.pairs = {pair};
  places.storage = Measured<StoragePlace>::missing("no storage is named");
}

void put_transport(MadeRun& run, const std::string& via) {
  run.records(0).transports = std::vector<Transport>{{0, 1, via, 4}};
  run.records(1).transports = std::vector<Transport>{{1, 0, via, 4}};
}

void emulate(MadeRun& run) {
  run.plan.spec.emulate.falcon_link = kHostStaged;
  run.plan.places.gpus[1].emulated = true;
}

TEST(Topology, MatchedIsWhatEveryRankAndEveryPlaceShow) {
  MadeRun run;
  put_places(run);
  put_transport(run, "P2P/CUMEM");
  const Report report = run.report();
  EXPECT_EQ(report.topology.verdict, "matched");
  EXPECT_THAT(report.topology.evidence,
              ElementsAre(HasSubstr("compared by UUID"), HasSubstr("2 of 2 GPUs sit where")));
  EXPECT_THAT(*report.topology.pair_classes, ElementsAre(Pair("F-L", 1)));
  EXPECT_EQ(report.topology.pairs[0].transport.value, "P2P/CUMEM");
  EXPECT_EQ(report.topology.gpus[1].attach.value, "falcon");
  EXPECT_THAT(finding_ids(report), IsEmpty());
}

TEST(Topology, APlaceThatContradictsIsInvalidAndOneNotProvedIsUnknown) {
  MadeRun run;
  put_places(run);
  run.plan.places.gpus[1].verdict = kUnknown;
  run.plan.places.gpus[1].evidence = "a guest";
  const Report unknown = run.report();
  EXPECT_EQ(unknown.topology.verdict, "unknown");
  EXPECT_THAT(finding_ids(unknown), Contains("topology_unknown"));
  EXPECT_THAT(unknown.topology.evidence.back(), "falcon0: a guest");
  run.plan.places.gpus[1].verdict = kMismatched;
  run.plan.places.gpus[1].evidence = "on the board";
  const Report mismatched = run.report();
  EXPECT_EQ(mismatched.topology.verdict, "mismatched");
  EXPECT_EQ(mismatched.topology.evidence.front(), "falcon0: on the board");
  EXPECT_THAT(finding_ids(mismatched), Contains("topology_mismatched"));
}

TEST(Topology, TheNamedStorageCountsToo) {
  MadeRun run;
  put_places(run);
  StoragePlace storage;
  storage.name = "falconNVMe";
  storage.verdict = kMismatched;
  storage.evidence = "lies on nvme0n1";
  run.plan.places.storage = storage;
  const Report report = run.report();
  EXPECT_EQ(report.topology.verdict, "mismatched");
  EXPECT_EQ(report.topology.evidence.front(), "storage falconNVMe: lies on nvme0n1");
}

TEST(Topology, OfSeveralHostsWhatIsNotProvedSaysWhere) {
  MadeRun run;
  put_places(run);
  run.plan.places.gpus[0].host = "A";
  run.plan.places.gpus[1].host = "B";
  run.plan.places.gpus[1].verdict = kUnknown;
  run.plan.places.gpus[1].evidence = "a guest";
  StoragePlace storage;
  storage.name = "disk";
  storage.host = "A";
  storage.verdict = kMatched;
  run.plan.places.storage = storage;
  storage.host = "B";
  storage.verdict = kMismatched;
  storage.evidence = "lies on sda";
  run.plan.places.other_storages = {storage};
  const Topology topology = run.report().topology;
  EXPECT_EQ(topology.verdict, "mismatched");
  EXPECT_EQ(topology.evidence.front(), "storage disk of B: lies on sda");
  EXPECT_EQ(topology.evidence.back(), "falcon0 of B: a guest");
  EXPECT_EQ(topology.gpus[1].host, "B");
  EXPECT_EQ(topology.other_storages.at(0).host, "B");
}

TEST(Topology, ANamedSetWithoutPlacesIsNotProved) {
  MadeRun run;
  run.plan.spec.topology.name = "localGPUs";
  const Report report = run.report();
  EXPECT_EQ(report.topology.verdict, "unknown");
  EXPECT_THAT(finding_ids(report), ElementsAre("topology_unknown"));
}

TEST(Topology, AFindingOfThePlanIsNotRepeated) {
  MadeRun run;
  run.plan.spec.topology.name = "localGPUs";
  const Report alone = run.report();
  ASSERT_THAT(finding_ids(alone), ElementsAre("topology_unknown"));
  run.plan.findings = {alone.findings[0]};
  EXPECT_THAT(finding_ids(run.report()), ElementsAre("topology_unknown"));
}

TEST(NcclFallback, SharedMemoryBetweenGpusOfOneHostIsFound) {
  MadeRun run;
  put_places(run);
  put_transport(run, "SHM/direct/direct");
  const Report report = run.report();
  EXPECT_THAT(finding_ids(report), ElementsAre("nccl_fallback"));
  EXPECT_EQ(report.findings[0].evidence, "local0 and falcon0: SHM/direct/direct");
}

TEST(Emulation, AStagedPairIsWhatWasAskedFor) {
  MadeRun run;
  put_places(run);
  emulate(run);
  put_transport(run, "SHM/direct/direct");
  const Report report = run.report();
  EXPECT_TRUE(report.topology.emulated);
  EXPECT_EQ(report.run.status, "ok");
  EXPECT_THAT(finding_ids(report), IsEmpty());
  const std::string text = summary(report, "made.json", false);
  EXPECT_THAT(text, StartsWith("EMULATED  no chassis: falcon_link host_staged"));
  EXPECT_THAT(text, HasSubstr("(emulated, matched)"));
  EXPECT_THAT(summary(MadeRun().report(), "made.json", false), Not(HasSubstr("mulated")));
}

TEST(Emulation, ADirectPairOrNoProofMakesTheRunInvalid) {
  MadeRun run;
  put_places(run);
  emulate(run);
  put_transport(run, "P2P/CUMEM/read");
  const Report direct = run.report();
  EXPECT_EQ(direct.run.status, "invalid");
  EXPECT_EQ(direct.run.exit_code, 0) << "6 with strict only";
  EXPECT_THAT(finding_ids(direct), ElementsAre("emulation_failed"));
  EXPECT_EQ(direct.findings[0].evidence, "local0 and falcon0: P2P/CUMEM/read");
  for (int rank : {0, 1}) {
    run.records(rank).transports = Measured<std::vector<Transport>>::missing("no log");
  }
  run.plan.spec.strict = true;
  const Report silent = run.report();
  EXPECT_EQ(silent.run.status, "invalid");
  EXPECT_EQ(silent.run.exit_code, 6);
  EXPECT_EQ(silent.findings[0].evidence, "no log");
}

}  // namespace
}  // namespace falcon::report
