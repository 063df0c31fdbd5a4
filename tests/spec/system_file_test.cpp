#include "spec/system_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "spec_files.h"

namespace falcon::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> faults(const std::string& path) {
  try {
    load_system_file(path);
    return {};
  } catch (const InputError& error) {
    std::vector<std::string> lines;
    for (Fault fault : error.faults()) {
      fault.source = "s";
      lines.push_back(to_text(fault));
    }
    return lines;
  }
}

TEST(SystemFile, ShippedExampleSaysWhereItsGpusAre) {
  const SystemFile system = load_system_file("configs/systems/example.yaml");
  EXPECT_EQ(system.path, "configs/systems/example.yaml");
  EXPECT_EQ(system.gpus.at("local0").pci_address, "0000:18:00.0");
  EXPECT_EQ(system.gpus.at("falcon0").attach, "falcon");
  EXPECT_EQ(system.gpus.at("falcon1").drawer, 1);
  EXPECT_EQ(system.link_of(system.gpus.at("falcon1"))->root_port, "0000:ae:00.0");
  EXPECT_EQ(system.link_of(system.gpus.at("local0")), nullptr);
  EXPECT_EQ(system.chassis.at("falcon4016").drawers.at("2").host_links.at("theirs").host, "node2");
  EXPECT_EQ(system.links.at("F-F same drawer").one_way_gb_per_s, 25.6);
  EXPECT_EQ(system.storage.at("falconNVMe").mount, "/mnt/falcon_nvme");
  EXPECT_THAT(system.members("localGPUs"), ElementsAre("local0", "local1"));
  EXPECT_THAT(system.members("hybridGPUs"), ElementsAre("local0", "falcon0"));
  EXPECT_THAT(system.members("otherGPUs"), IsEmpty());
}

TEST(SystemFile, MembersKeepTheOrderOfEntriesAndComeOnce) {
  const SpecFolder folder;
  const SystemFile system = load_system_file(folder.write(
      "s.yaml",
      "gpus:\n  b.2: {uuid: GPU-2}\n  a1: {uuid: GPU-1}\n  b.1: {pci_address: 3B:00.0}\n"
      "topologies: {mine: [\"b.*\", a1, \"?1\"], first: [a1]}\n"));
  EXPECT_THAT(system.members("mine"), ElementsAre("b.1", "b.2", "a1"));
  EXPECT_EQ(system.gpus.at("b.1").pci_address, "0000:3b:00.0") << "domain added, lower case";
}

TEST(SystemFile, ThePapersMachineHasTheSetsOfThePaper) {
  const SystemFile system = load_system_file("configs/systems/paper-falcon4016.yaml");
  EXPECT_EQ(system.members("localGPUs").size(), 8u);
  EXPECT_EQ(system.members("falconGPUs").size(), 8u);
  EXPECT_THAT(system.members("hybridGPUs"),
              ElementsAre("local0", "local1", "local2", "local3", "falcon0", "falcon1", "falcon2",
                          "falcon3"));
  EXPECT_EQ(system.gpus.at("falcon5").host_link, "cable2") << "the only link of its drawer";
}

TEST(SystemFile, ThePapersSetsFollowFromAttachWhereTheFileNamesNone) {
  const SpecFolder folder;
  const SystemFile system = load_system_file(
      folder.write("s.yaml",
                   "gpus:\n"
                   "  g10: {uuid: GPU-1}\n"
                   "  g2: {uuid: GPU-2}\n"
                   "  a: {uuid: GPU-3, attach: falcon, chassis: c, drawer: 2}\n"
                   "  b: {uuid: GPU-4, attach: falcon, chassis: c, drawer: 1, slot: 2}\n"
                   "  c: {uuid: GPU-5, attach: falcon, chassis: c, drawer: 1, slot: 1}\n"));
  EXPECT_THAT(system.members("localGPUs"), ElementsAre("g2", "g10"));
  EXPECT_THAT(system.members("falconGPUs"), ElementsAre("c", "b", "a"));
  EXPECT_THAT(system.members("hybridGPUs"), ElementsAre("g2", "c", "g10", "b"));
  EXPECT_THAT(system.sets(), ElementsAre("localGPUs", "hybridGPUs", "falconGPUs"));
  const SystemFile plain = load_system_file(folder.write("t.yaml", "gpus: {a: {uuid: GPU-1}}\n"));
  EXPECT_THAT(plain.sets(), ElementsAre("localGPUs")) << "nothing is marked falcon";
}

TEST(SystemFile, WhatContradictsAChassisIsAFaultInItsPlace) {
  const SpecFolder folder;
  const auto lines = faults(
      folder.write("s.yaml",
                   "chassis:\n"
                   "  c:\n"
                   "    drawers:\n"
                   "      1: {mode: two_links, host_links: {a: {}, b: {host: x}}}\n"
                   "      2: {mode: two_hosts}\n"
                   "      three: {}\n"
                   "      4: {host_links: {a: {}, b: {}}}\n"
                   "      5: {mode: two_links, host_links: {a: {root_port: x}, b: {}}}\n"
                   "gpus:\n"
                   "  a: {uuid: GPU-1, attach: falcon, chassis: d, drawer: 1}\n"
                   "  b: {uuid: GPU-2, attach: falcon, chassis: c, drawer: 9}\n"
                   "  c: {uuid: GPU-3, attach: falcon, chassis: c, drawer: 5}\n"
                   "  d: {uuid: GPU-4, attach: falcon, chassis: c, drawer: 5, host_link: z}\n"
                   "  e: {uuid: GPU-5, emulated: true}\n"
                   "  f: {uuid: GPU-6, attach: falcon, chassis: c, drawer: 2, slot: 1}\n"
                   "  g: {uuid: GPU-7, attach: falcon, chassis: c, drawer: 2, slot: 1}\n"
                   "  8: {uuid: GPU-8}\n"
                   "storage:\n"
                   "  s: {mount: /a, device: nvme0n1, drawer: 1}\n"
                   "topologies: {a: [b]}\n"
                   "links:\n"
                   "  L-F: {one_way_gb_per_s: 3}\n"
                   "  L-L: {}\n"));
  EXPECT_THAT(
      lines,
      ElementsAre(
          HasSubstr("s:4:40: chassis.c.drawers.1.host_links: mode two_links has two host "
                    "links, to one host, got 2 links to 2 hosts"),
          HasSubstr("s:5:17: chassis.c.drawers.2.mode: mode two_hosts has two host links, to "
                    "different hosts, got 0 links"),
          HasSubstr("s:6:14: chassis.c.drawers.three: expected the number of a drawer"),
          HasSubstr("chassis.c.drawers.4.host_links: mode one_host has one host link, got 2"),
          HasSubstr("chassis.c.drawers.5.host_links.a.root_port: expected a PCI address"),
          HasSubstr("gpus.a.chassis: \"d\" is no chassis of this file"),
          HasSubstr("gpus.b.drawer: c has the drawers 1, 2, 4, 5, three"),
          HasSubstr("gpus.c.host_link: is required: drawer 5 of c has the host links a, b"),
          HasSubstr("gpus.d.host_link: \"z\" is no host link of drawer 5 of c"),
          HasSubstr("gpus.e.emulated: it would play a GPU of a chassis"),
          HasSubstr("gpus.g.slot: slot 1 of drawer 2 of c is also gpus.f"),
          HasSubstr("gpus.8: a bare index is no name"),
          HasSubstr("storage.s.device: expected a path below /dev"),
          HasSubstr("storage.s.drawer: is for attach: falcon"),
          HasSubstr("topologies.a: the name a is that of a GPU"),
          HasSubstr("links.L-F: unknown class of links"),
          HasSubstr("links.L-L: expects one_way_gb_per_s")));
}

TEST(SystemFile, TheManagementOfAChassisHasItsFilesBesideTheSystemFile) {
  const SpecFolder folder;
  const SystemFile system = load_system_file(folder.write(
      "s.yaml",
      "chassis:\n"
      "  c:\n"
      "    redfish: {url: 'https://c.example', ca_file: ca.pem, credentials: /secrets}\n"
      "    drawers: {1: {switch: Drawer1, host_links: {a: {port: Host1}}}}\n"));
  const SystemChassis& chassis = system.chassis.at("c");
  EXPECT_EQ(chassis.redfish->url, "https://c.example");
  EXPECT_EQ(chassis.redfish->ca_file, folder.path("ca.pem"));
  EXPECT_EQ(chassis.redfish->credentials, "/secrets");
  EXPECT_EQ(chassis.drawers.at("1").switch_name, "Drawer1");
  EXPECT_EQ(chassis.drawers.at("1").host_links.at("a").port, "Host1");
  const SystemFile plain = load_system_file(
      folder.write("t.yaml", "chassis: {c: {redfish: {url: 'http://c.example:8000/redfish'}}}\n"));
  EXPECT_EQ(plain.chassis.at("c").redfish->ca_file, "") << "the system's certificates";
}

TEST(SystemFile, AManagementThatCannotBeAskedIsAFault) {
  const SpecFolder folder;
  const auto lines = faults(folder.write("s.yaml",
                                         "chassis:\n"
                                         "  a: {redfish: {url: chassis.example}}\n"
                                         "  b: {redfish: {url: 'https:///redfish'}}\n"
                                         "  c: {redfish: {url: 'http://c', credentials: secrets}}\n"
                                         "  d: {redfish: {url: 'https://monitor:sesame@d'}}\n"
                                         "  e: {drawers: {1: {switch: one}}}\n"
                                         "  f:\n"
                                         "    redfish: {url: 'https://f'}\n"
                                         "    drawers:\n"
                                         "      1: {switch: one}\n"
                                         "      2: {switch: one}\n"
                                         "      3: {host_links: {cable: {port: x}}}\n"
                                         "      4:\n"
                                         "        mode: advanced\n"
                                         "        switch: four\n"
                                         "        host_links: {p: {port: x}, q: {port: x}}\n"));
  EXPECT_THAT(
      lines,
      ElementsAre(
          "s:2:22: chassis.a.redfish.url: must begin with https:// (or http://)",
          "s:3:22: chassis.b.redfish.url: names no host",
          HasSubstr("s:4:22: chassis.c.redfish.url: is http, over which credentials could be read"),
          HasSubstr("s:5:22: chassis.d.redfish.url: holds a user or password"),
          "s:6:29: chassis.e.drawers.1.switch: has no effect without chassis.e.redfish",
          "s:11:19: chassis.f.drawers.2.switch: switch one of f is also chassis.f.drawers.1",
          "s:12:38: chassis.f.drawers.3.host_links.cable.port: has no effect without "
          "chassis.f.drawers.3.switch",
          "s:16:46: chassis.f.drawers.4.host_links.q.port: port x of chassis.f.drawers.4 is also "
          "chassis.f.drawers.4.host_links.p"));
  for (const std::string& line : lines) EXPECT_EQ(line.find("sesame"), std::string::npos) << line;
}

TEST(SystemFile, AllFaultsAreNamedWithTheirPlaces) {
  const SpecFolder folder;
  const auto lines = faults(folder.write("s.yaml",
                                         "gpus:\n"
                                         "  a: {attach: local}\n"
                                         "  b: {pci_address: 00000000:18:00.0}\n"
                                         "  c: {pci_address: 0000:18:00.0}\n"
                                         "  d: {pci_address: 18}\n"
                                         "storage:\n"
                                         "  disk: {mount: here}\n"));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("s:5:20: gpus.d.pci_address: expected text")));
  const auto rules = faults(folder.write("t.yaml",
                                         "gpus:\n"
                                         "  a: {attach: local}\n"
                                         "  b: {pci_address: 00000000:18:00.0}\n"
                                         "  c: {pci_address: 0000:18:00.0}\n"
                                         "  d: {pci_address: x, drawer: 2}\n"
                                         "  e: {uuid: 123-4}\n"
                                         "storage:\n"
                                         "  disk: {mount: here}\n"
                                         "topologies:\n"
                                         "  all: [b]\n"
                                         "  none: []\n"
                                         "  some: [bb, \"z*\"]\n"));
  EXPECT_THAT(
      rules,
      ElementsAre(
          HasSubstr("s:2:6: gpus.a: expects pci_address or uuid"),
          HasSubstr("s:4:20: gpus.c.pci_address: 0000:18:00.0 is also gpus.b"),
          HasSubstr("s:5:20: gpus.d.pci_address: expected a PCI address such as"),
          HasSubstr("s:5:31: gpus.d.drawer: is for attach: falcon, but gpus.d.attach is local"),
          HasSubstr("s:6:13: gpus.e.uuid: expected GPU-..., got \"123-4\""),
          HasSubstr("s:8:17: storage.disk.mount: expected an absolute path"),
          HasSubstr("s:10:8: topologies.all: the name all is taken"),
          HasSubstr("s:11:9: topologies.none: expects at least one GPU name"),
          HasSubstr("s:12:9: topologies.some: \"bb\" matches no GPU of this file, did you"),
          HasSubstr("s:12:9: topologies.some: \"z*\" matches no GPU of this file")));
}

TEST(SystemFile, UnknownKeysAndWordsGetTheNearestOne) {
  const SpecFolder folder;
  EXPECT_THAT(
      faults(folder.write("s.yaml",
                          "gpu: {}\ngpus: {a: {uuid: GPU-1, atach: falcon}}\n"
                          "storage: {d: {attach: Falcon}}\n")),
      ElementsAre(HasSubstr("s:1:1: gpu: unknown key, did you mean gpus?"),
                  HasSubstr("s:2:25: gpus.a.atach: unknown key, did you mean attach?"),
                  HasSubstr("s:3:14: storage.d.mount: is required"),
                  HasSubstr("storage.d.attach: unknown value \"Falcon\", did you mean falcon?")));
}

}  // namespace
}  // namespace falcon::spec
