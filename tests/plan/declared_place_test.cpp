// Verdicts that the paper's machine does not show: guests, boards without NVLink, shared drawers.
#include "plan/declared_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "made_host.h"
#include "plan/places.h"

namespace falcon::plan {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// GPU 0 below a root port, GPUs 1 and 2 behind a switch, GPU 3 behind another one.
Host switched_host() {
  Host host = made_host(4);
  host.virtual_machine = Measured<std::string>::missing("no sign");
  host.gpus[0].bridges = std::vector<std::string>{"0000:09:00.0"};
  for (const std::size_t i : {1, 2}) {
    host.gpus[i].bridges = std::vector<std::string>{"0000:20:00.0", "0000:21:00.0",
                                                    "0000:22:0" + std::to_string(i) + ".0"};
  }
  host.gpus[3].bridges = std::vector<std::string>{"0000:30:00.0", "0000:31:00.0", "0000:32:00.0"};
  host.switches = {{"0000:20:00.0", "0000:21:00.0", "aaaa:1", 4, 4, 16, 16, 0},
                   {"0000:30:00.0", "0000:31:00.0", "bbbb:2", 4, 4, 16, 16, 0}};
  return host;
}

SystemGpu at(const Host& host, std::size_t index, const std::string& attach) {
  SystemGpu gpu;
  gpu.pci_address = host.gpus[index].pci_address;
  gpu.attach = attach;
  return gpu;
}

SystemFile four(const Host& host) {
  SystemFile system;
  system.path = "box.yaml";
  for (std::size_t i = 0; i < 4; ++i) {
    system.gpus["g" + std::to_string(i)] = at(host, i, i == 0 ? "local" : "falcon");
  }
  return system;
}

std::string verdict(const Host& host, const SystemFile& system, const std::string& name,
                    std::size_t index) {
  return DeclaredPlaces(host, system).of_gpu(system.gpus.at(name), host.gpus[index]).verdict;
}

TEST(DeclaredPlaces, ARootPortProvesAndRefutesAlone) {
  const Host host = switched_host();
  SystemFile system = four(host);
  EXPECT_EQ(verdict(host, system, "g0", 0), "matched");
  system.gpus["g0"].attach = "falcon";
  EXPECT_EQ(verdict(host, system, "g0", 0), "mismatched");
}

TEST(DeclaredPlaces, WithoutNvlinkASwitchProvesNothingUntilItsPortIsNamed) {
  const Host host = switched_host();
  SystemFile system = four(host);
  EXPECT_EQ(verdict(host, system, "g1", 1), "unknown");
  system.gpus["g3"].attach = "local";
  EXPECT_EQ(verdict(host, system, "g3", 3), "unknown");
  SystemHostLink link{"", "0000:20:00.0", ""};
  system.chassis["c"].drawers["1"].host_links["a"] = link;
  for (const char* name : {"g1", "g2"}) {
    system.gpus[name].chassis = "c";
    system.gpus[name].drawer = 1;
    system.gpus[name].host_link = "a";
  }
  EXPECT_EQ(verdict(host, system, "g1", 1), "matched");
  EXPECT_EQ(verdict(host, system, "g3", 3), "matched") << "at none of the chassis' ports";
  system.gpus["g2"] = at(host, 2, "local");
  EXPECT_EQ(verdict(host, system, "g2", 2), "mismatched");
}

TEST(DeclaredPlaces, OneDrawerBehindTwoSwitchesContradictsItself) {
  const Host host = switched_host();
  SystemFile system = four(host);
  for (const char* name : {"g1", "g3"}) {
    system.gpus[name].chassis = "c";
    system.gpus[name].drawer = 1;
  }
  EXPECT_EQ(verdict(host, system, "g1", 1), "mismatched");
  system.gpus["g3"].drawer = 2;
  EXPECT_EQ(verdict(host, system, "g1", 1), "unknown");
}

TEST(DeclaredPlaces, AGuestKnowsNothingButNvlink) {
  Host host = switched_host();
  host.virtual_machine = std::string("KVM");
  const SystemFile system = four(host);
  EXPECT_EQ(verdict(host, system, "g0", 0), "unknown");
  EXPECT_EQ(verdict(host, system, "g1", 1), "unknown");
  host.gpus[0].nvlinks = 18;
  EXPECT_EQ(verdict(host, system, "g0", 0), "matched");
}

TEST(DeclaredPlaces, WhatIsSeenWithoutAFileIsNeverGuessed) {
  Host host = switched_host();
  const SystemFile nothing;
  const DeclaredPlaces judge(host, nothing);
  EXPECT_EQ(judge.attach_seen(host.gpus[0]).value, "local");
  EXPECT_FALSE(judge.attach_seen(host.gpus[1]).has_value());
  host.gpus[2].nvlinks = 4;
  EXPECT_EQ(judge.attach_seen(host.gpus[1]).value, "local") << "on the switch of one with NVLink";
}

// Two cables into one drawer, a half of it lent.
SystemFile shared_drawer(const Host& host, const std::string& mode, const std::string& other) {
  SystemFile system = four(host);
  SystemDrawer& drawer = system.chassis["c"].drawers["1"];
  drawer.mode = mode;
  drawer.host_links["a"] = {"", "0000:20:00.0", ""};
  drawer.host_links["b"] = {other, other.empty() ? "0000:30:00.0" : "", ""};
  for (const auto& [name, link] : {std::pair("g1", "a"), {"g2", "a"}, {"g3", "b"}}) {
    system.gpus[name].chassis = "c";
    system.gpus[name].drawer = 1;
    system.gpus[name].host_link = link;
  }
  return system;
}

TEST(SharedDrawer, TwoLinksSplitItIntoHalves) {
  const Host host = switched_host();
  const SystemFile system = shared_drawer(host, "two_links", "");
  const Placement placement = place({"falconGPUs", {}}, {}, host, system);
  const Places places = make_places(placement, host, system, false, "");
  std::vector<std::string> classes;
  for (const PairPlace& pair : places.pairs) classes.push_back(*pair.pair_class);
  EXPECT_THAT(classes, ElementsAre("F-F same drawer", "F-F other half", "F-F other half"));
  EXPECT_THAT(places.order, HasSubstr("g2 = g3 = g1 (2 steps"));
}

TEST(SharedDrawer, GpusLentToAnotherHostAreRefusedByName) {
  const Host host = switched_host();
  const SystemFile system = shared_drawer(host, "two_hosts", "node2");
  try {
    place({"falconGPUs", {}}, {}, host, system);
    ADD_FAILURE() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kHost);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("lent to another host: g3 to node2 (host link b of "
                                              "drawer 1 of c)"),
                                    HasSubstr("0000:10:00.0")));
  }
  EXPECT_EQ(place({"falconGPUs", {}}, 2, host, system).names.size(), 2u) << "those that are here";
}

TEST(Ring, GpusOfOnePlaceFollowEachOtherInANamedSet) {
  const Host host = switched_host();
  SystemFile system = shared_drawer(host, "two_links", "");
  system.topologies["mixed"] = {"g3", "g1", "g0", "g2"};
  EXPECT_THAT(place({"mixed", {}}, {}, host, system).names, ElementsAre("g3", "g1", "g2", "g0"));
  EXPECT_THAT(place({"mixed", {}}, 3, host, system).names, ElementsAre("g3", "g1", "g0"))
      << "the first three of the set";
  EXPECT_THAT(place({"", {"g3", "g1", "g0", "g2"}}, {}, host, system).names,
              ElementsAre("g3", "g1", "g0", "g2"))
      << "a list is taken as it is written";
}

}  // namespace
}  // namespace falcon::plan
