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
      ElementsAre(HasSubstr("s:2:6: gpus.a: expects pci_address or uuid"),
                  HasSubstr("s:4:20: gpus.c.pci_address: 0000:18:00.0 is also gpus.b"),
                  HasSubstr("s:5:20: gpus.d.pci_address: expected a PCI address such as"),
                  HasSubstr("s:5:31: gpus.d.drawer: is for a GPU with attach: falcon"),
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
