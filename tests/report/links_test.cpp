#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/catalog.h"
#include "made_links.h"
#include "report/links/figures.h"
#include "report/links/make.h"
#include "report/links/page.h"

namespace falcon::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> found_in(const LinksReport& report) {
  std::vector<std::string> ids;
  for (const Finding& finding : report.findings) ids.push_back(finding.id);
  return ids;
}

const Finding& finding_of(const LinksReport& report, const std::string& id) {
  for (const Finding& finding : report.findings) {
    if (finding.id == id) return finding;
  }
  throw std::logic_error("no finding " + id);
}

TEST(LinkFigures, SpreadIsMedianSmallestAndLargest) {
  const Spread odd = spread_of({3, 1, 2});
  EXPECT_EQ(odd.count, 3);
  EXPECT_EQ(*odd.median, 2);
  EXPECT_EQ(*odd.min, 1);
  EXPECT_EQ(*odd.max, 3);
  EXPECT_EQ(*spread_of({1, 2}).median, 1.5);
  EXPECT_EQ(spread_of({}).median.reason, "not measured");
}

TEST(LinkFigures, RatesArePayloadOverTime) {
  LinkWindows windows;
  windows.size_bytes = 1000;
  windows.repeats = 10;
  windows.seconds = {1, 2, 4};
  windows.flow_seconds = {{1, 1, 1}, {2, 2, 2}};
  EXPECT_EQ(*copy_rate(windows, 1).median, 5000);
  EXPECT_EQ(*copy_rate(windows, 2).median, 10000);
  EXPECT_EQ(*copy_rate(windows, 1).max, 10000);
  EXPECT_EQ(*flow_rate(windows, 1).median, 5000);
  EXPECT_EQ(*copy_time(windows).median, 0.2);
}

// The definitions of nccl-tests.
TEST(LinkFigures, BusBandwidth) {
  EXPECT_EQ(bus_factor("all_reduce", 2), 1);
  EXPECT_EQ(bus_factor("all_reduce", 8), 1.75);
  EXPECT_EQ(bus_factor("all_gather", 4), 0.75);
  EXPECT_EQ(bus_factor("reduce_scatter", 4), 0.75);
  EXPECT_EQ(bus_factor("broadcast", 4), 1);
}

TEST(LinksReport, AHealthyMachineHasFiguresAndNoFindings) {
  const LinksReport report = make_links(MadeLinks().input);
  EXPECT_THAT(found_in(report), IsEmpty());
  ASSERT_EQ(report.pairs.size(), 2U);
  const LinkPair& pair = report.pairs[1];
  EXPECT_EQ(pair.source, 1);
  EXPECT_EQ(pair.target, 0);
  EXPECT_EQ(pair.pair_class, "NV18") << "without a system file the path is the class";
  EXPECT_TRUE(*pair.peer_access);
  EXPECT_NEAR(*pair.peer_to_peer.write_bytes_per_s, 380e9, 1e6);
  EXPECT_NEAR(*pair.peer_to_peer.both_bytes_per_s, 760e9, 1e6);
  EXPECT_NEAR(*pair.peer_to_peer.latency_s, 1.3e-6, 1e-12);
  EXPECT_NEAR(*pair.host_staged.read_bytes_per_s, 36e9, 1e6);
  EXPECT_NEAR(*pair.host_staged.latency_s, 12e-6, 1e-12);
  EXPECT_NEAR(*pair.expectation.practical_bytes_per_s, 373.5e9, 1e6);
  ASSERT_EQ(pair.copies.front().by_size.size(), 2U) << "latencies are no speeds";
  EXPECT_EQ(pair.copies.front().by_size[0].size_bytes, 1 << 20);
  EXPECT_LT(*pair.copies.front().by_size[0].bytes_per_s.min,
            *pair.copies.front().by_size[0].bytes_per_s.median);
  std::set<std::string> methods;
  for (const LatencyFigure& latency : pair.latencies) methods.insert(latency.method);
  EXPECT_EQ(methods, (std::set<std::string>{"write", "read", "load"}));
}

TEST(LinksReport, ClassesAreMediansOverTheirPairs) {
  MadeLinks made;
  made.set_times([](const CopyTask& task, std::int64_t bytes) {
    const bool is_back = task.flows.size() == 1 && task.flows[0].source == 1;
    return usual_time_s(task, bytes) * (is_back ? 2 : 1);
  });
  const LinksReport report = make_links(made.input);
  ASSERT_EQ(report.classes.size(), 1U);
  EXPECT_EQ(report.classes[0].pairs, 2);
  const Spread& write = report.classes[0].peer_to_peer.write_bytes_per_s;
  EXPECT_EQ(write.count, 2);
  EXPECT_NEAR(*write.median, 285e9, 1e6);
  EXPECT_NEAR(*write.min, 190e9, 1e6);
  EXPECT_NEAR(*write.max, 380e9, 1e6);
}

TEST(LinksReport, ASystemFileNamesTheClassesAndWhatTheyShouldReach) {
  MadeLinks made;
  made.input.system.path = "system.yaml";
  made.input.system.links["L-L"].one_way_gb_per_s = 400;
  made.input.system.links["L-L"].latency_us = 1.2;
  made.input.system.links["host-L"].one_way_gb_per_s = 56;  // 55 is within what repeats differ by
  const LinksReport report = make_links(made.input);
  EXPECT_EQ(report.classes[0].name, "L-L");
  EXPECT_EQ(report.pairs[0].expectation.link_class, "L-L");
  EXPECT_THAT(found_in(report), ElementsAre("link_below_expected"));
  const Finding& finding = finding_of(report, "link_below_expected");
  EXPECT_THAT(finding.message, HasSubstr("gpu0 to gpu1"));
  EXPECT_THAT(finding.evidence, HasSubstr("write 380.0 GB/s of 400.0 GB/s"));
  EXPECT_THAT(finding.evidence, HasSubstr("latency 1.30 us, expected 1.20 us"));
  EXPECT_THAT(finding.evidence, Not(HasSubstr("host_to_device")));
}

TEST(LinksReport, HostCopiesAloneAndTogether) {
  MadeLinks made;
  made.set_times([](const CopyTask& task, std::int64_t bytes) {
    const bool is_together = task.method == "host_to_device" && task.flows.size() == 2;
    return usual_time_s(task, bytes) * (is_together ? 1.6 : 1);
  });
  const LinksReport report = make_links(made.input);
  ASSERT_EQ(report.host.size(), 2U);
  EXPECT_EQ(*report.host[0].memory_node, 0);
  EXPECT_EQ(report.host[1].memory_node.reason, "get_mempolicy: refused");
  ASSERT_EQ(report.host_together.size(), 1U);
  const HostCopiesTogether& together = report.host_together[0];
  EXPECT_EQ(together.name, "all");
  EXPECT_THAT(together.devices, ElementsAre(0, 1));
  EXPECT_NEAR(*together.alone_sum_bytes_per_s, 110e9, 1e6);
  EXPECT_NEAR(*together.relative_to_alone, 1 / 1.6, 1e-6);
  EXPECT_THAT(found_in(report), ElementsAre("uplink_shared"));
}

TEST(LinksReport, TheUplinkOfADrawerHasItsNameAndItsExpectation) {
  MadeLinks made;
  made.input.system.path = "system.yaml";
  made.input.system.links["uplink"].one_way_gb_per_s = 120;
  SharedUplink uplink;
  uplink.name = "falcon drawer 1";
  uplink.devices = {"gpu0", "gpu1"};
  made.input.places.uplinks = {uplink};
  const LinksReport report = make_links(made.input);
  EXPECT_EQ(report.host_together[0].name, "falcon drawer 1");
  EXPECT_EQ(*report.host_together[0].expected_bytes_per_s, 120e9);
  EXPECT_THAT(finding_of(report, "link_below_expected").evidence,
              HasSubstr("host_to_device 110.0 GB/s of 120.0 GB/s"));
}

TEST(LinksReport, TheSlowestRankOfEachWindowCounts) {
  const LinksReport report = make_links(MadeLinks().input);
  ASSERT_EQ(report.collectives.size(), 2U);
  const CollectiveSeries& on = report.collectives[0];
  EXPECT_EQ(on.operation, "all_reduce");
  EXPECT_TRUE(on.peer_to_peer);
  EXPECT_EQ(on.ranks, 2);
  EXPECT_EQ(on.data_type, "bfloat16");
  EXPECT_NEAR(*on.bus_bytes_per_s, 328e9, 1e6);
  EXPECT_EQ(on.by_size.back().time_s.count, 5);
  EXPECT_NEAR(*report.collectives[1].bus_bytes_per_s, 28.8e9, 1e5);
}

TEST(LinksFindings, AreAllInTheCatalog) {
  std::set<std::string> known;
  for (const WordFacts& facts : catalog::findings()) known.insert(facts.name);
  for (const char* id :
       {"link_contents_wrong", "link_not_measured", "peer_access_ineffective",
        "peer_access_blocked", "acs_redirects", "link_below_expected", "link_below_practical",
        "uplink_shared", "iommu_translates", "nccl_fallback"}) {
    EXPECT_TRUE(known.contains(id)) << id;
  }
}

TEST(LinksFindings, WrongContentsMakeTheMeasurementInvalid) {
  MadeLinks made;
  made.result_of("read", 0, 1, true).by_size.back().contents_match = false;
  made.input.collectives[0].ranks[1].collectives[0].by_size[0].contents_match = false;
  const LinksReport report = make_links(made.input);
  const Finding& finding = finding_of(report, "link_contents_wrong");
  EXPECT_EQ(finding.severity, "invalid");
  EXPECT_THAT(finding.message, HasSubstr("gpu0 to gpu1; all_reduce"));
  EXPECT_THAT(finding.evidence, HasSubstr("read, peer to peer, 268435456 bytes"));
  EXPECT_THAT(finding.evidence, HasSubstr("1048576 bytes over nccl"));
}

TEST(LinksFindings, PeerAccessThatIsNoFasterThanStaging) {
  MadeLinks made;
  made.set_times([](const CopyTask& task, std::int64_t bytes) {
    CopyTask staged = task;
    if (task.method == "write" || task.method == "read") staged.peer_to_peer = false;
    return usual_time_s(staged, bytes);
  });
  const LinksReport report = make_links(made.input);
  EXPECT_THAT(found_in(report), ElementsAre("peer_access_ineffective", "link_below_practical"));
  EXPECT_EQ(report.findings[0].evidence,
            "36.0 GB/s direct, 36.0 GB/s through host memory; "
            "36.0 GB/s direct, 36.0 GB/s through host memory");
}

TEST(LinksFindings, MissingPeerAccessIsNoFailedCopy) {
  MadeLinks made;
  made.input.copies.peers.clear();
  for (std::size_t i = 0; i < made.input.copies.copies.size(); ++i) {
    if (made.input.copy_work.copies[i].peer_to_peer) {
      made.input.copies.copies[i] = {{}, "CUDA says no"};
    }
  }
  made.input.places.pairs[0].path = std::string("PHB");
  const LinksReport report = make_links(made.input);
  EXPECT_THAT(found_in(report), ElementsAre("peer_access_blocked"));
  EXPECT_EQ(report.pairs[0].peer_to_peer.write_bytes_per_s.reason, "CUDA says no");
  EXPECT_EQ(report.classes[0].peer_to_peer.write_bytes_per_s.median.reason, "CUDA says no");
  EXPECT_NEAR(*report.pairs[0].expectation.practical_bytes_per_s, 0.83 * 63e9, 1e9);
}

TEST(LinksFindings, ACopyThatDidNotEndIsNamedWithItsReason) {
  MadeLinks made;
  made.result_of("write", 0, 1, true) = {{}, "write from gpu0 to gpu1 did not end"};
  const LinksReport report = make_links(made.input);
  EXPECT_THAT(found_in(report), ElementsAre("link_not_measured"));
  EXPECT_EQ(report.findings[0].message,
            "could not be measured: gpu0 to gpu1 (write, peer to peer)");
  EXPECT_EQ(report.findings[0].evidence, "write from gpu0 to gpu1 did not end");
}

TEST(LinksFindings, AHostLinkBelowItsKindAndBridgesThatRedirect) {
  MadeLinks made;
  made.set_times([](const CopyTask& task, std::int64_t bytes) {
    const bool is_slow = task.flows[0].target == 1 && task.method == "host_to_device" &&
                         task.flows.size() == 1;  // as Gen2 x16
    return usual_time_s(task, bytes) * (is_slow ? 55. / 6.5 : 1);
  });
  made.input.acs_bridges = std::vector<std::string>{"0000:00:01.0"};
  const LinksReport report = make_links(made.input);
  EXPECT_THAT(found_in(report), ElementsAre("acs_redirects", "link_below_practical"));
  EXPECT_THAT(finding_of(report, "link_below_practical").evidence,
              HasSubstr("host_to_device 6.5 GB/s of 55.5 GB/s"));
}

TEST(LinksFindings, AnIommuThatTranslatesAndNcclThatStages) {
  MadeLinks made;
  made.input.host.gpus[1].iommu = std::string("DMA-FQ");
  made.input.collectives[0].transports[1] = std::vector<Transport>{{1, 0, "SHM/direct/direct", 2}};
  const LinksReport report = make_links(made.input);
  EXPECT_THAT(found_in(report), ElementsAre("iommu_translates", "nccl_fallback"));
  EXPECT_THAT(report.findings[0].message, HasSubstr("gpu1"));
  EXPECT_EQ(report.findings[1].evidence, "transports: P2P/CUMEM, SHM/direct/direct");
  EXPECT_THAT(*report.collectives[1].transports, ElementsAre("SHM/direct/direct"));
}

TEST(LinksReport, AFailedPassLeavesTheRest) {
  MadeLinks made;
  made.input.collectives[1].ranks.clear();
  made.input.collectives[1].error = "rank 1 died";
  made.input.run.status = "failed";
  made.input.failure = RunFailure{"exited", "rank 1 died", 1, "node1", "", "measure", 3};
  const LinksReport report = make_links(made.input);
  EXPECT_TRUE(report.collectives[0].bus_bytes_per_s.has_value());
  EXPECT_EQ(report.collectives[1].bus_bytes_per_s.reason, "rank 1 died");
  EXPECT_EQ(report.error.value->message, "rank 1 died");
  EXPECT_THAT(found_in(report), ElementsAre("link_not_measured"));
}

TEST(LinksPage, ShowsPairsHostsCollectivesAndFindings) {
  MadeLinks made;
  made.input.copies.peers.clear();
  const std::string page = links_page(make_links(made.input), "out.json", false);
  EXPECT_THAT(page, HasSubstr("ok  links of node1"));
  EXPECT_THAT(page, HasSubstr("NV18       2  380.0  380.0  760.0  1.30"));
  EXPECT_THAT(page, HasSubstr("all at once, host_to_device: 110.0 GB/s, 100 % of the sum alone"));
  EXPECT_THAT(page, HasSubstr("all_reduce staged"));
  EXPECT_THAT(page, HasSubstr("1 GiB"));
  EXPECT_THAT(page, HasSubstr("328.0"));
  EXPECT_THAT(page, HasSubstr("cannot reach each other's memory"));
  EXPECT_THAT(page, HasSubstr("out.json"));
  EXPECT_THAT(page, Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace falcon::report
