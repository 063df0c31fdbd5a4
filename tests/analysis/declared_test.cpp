#include "analysis/predict/declared.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"

namespace falcon::analysis {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Two GPUs in the host, two in each of two drawers, all classes declared.
SystemFile machine() {
  SystemFile system;
  system.path = "made.yaml";
  for (const char* name : {"local0", "local1"}) system.gpus[name] = SystemGpu{};
  for (int i = 0; i < 4; ++i) {
    SystemGpu gpu;
    gpu.attach = "falcon";
    gpu.chassis = "falcon";
    gpu.drawer = 1 + i / 2;
    system.gpus["falcon" + std::to_string(i)] = gpu;
  }
  system.links["L-L"] = {48.0, std::nullopt, 2.0};
  system.links["F-L"] = {std::nullopt, 18.0, 3.0};
  system.links["F-F same drawer"] = {13.0, 24.0, std::nullopt};
  system.links["F-F cross drawer"] = {std::nullopt, 20.0, 4.0};
  return system;
}

double bus_of(const Fabric& fabric) {
  return 1 / ((all_reduce_s(fabric, 2e9, 2) - all_reduce_s(fabric, 1e9, 2)) / 1e9);
}

std::string refusal(const SystemFile& system, const std::string& topology, int devices) {
  try {
    declared_fabric(system, topology, devices);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "";
}

TEST(Declared, ASetIsARingAtTheSlowestClassOfItsHops) {
  const SystemFile system = machine();
  EXPECT_NEAR(bus_of(declared_fabric(system, "localGPUs", 2)), 48e9, 1);
  const Fabric drawer = declared_fabric(system, "falconGPUs", 2);
  EXPECT_NEAR(bus_of(drawer), 12e9, 1) << "both ways at once, as a ring uses its links";
  EXPECT_THAT(drawer.source, AllOf(HasSubstr("F-F same drawer 24.00 GB/s both ways"),
                                   HasSubstr("5.000 us taken"), Not(HasSubstr("cross"))));
  const Fabric falcon = declared_fabric(system, "falconGPUs", 4);
  EXPECT_NEAR(bus_of(falcon), 10e9, 1);
  EXPECT_THAT(
      falcon.source,
      AllOf(HasSubstr("not measured: F-F same drawer"),
            HasSubstr("F-F cross drawer 20.00 GB/s both ways and 4.000 us declared by made.yaml"),
            HasSubstr("slowest hop, F-F cross drawer at 10.00 GB/s")));
  EXPECT_EQ(falcon.basis, kLinksDeclared);
  EXPECT_NEAR(bus_of(declared_fabric(system, "hybridGPUs", 4)), 9e9, 1);
  EXPECT_NEAR(bus_of(declared_fabric(system, "all", 6)), 9e9, 1);
}

TEST(Declared, TheBandIsHalfToTwice) {
  const Fabric fabric = declared_fabric(machine(), "falconGPUs", 4);
  const double typical = all_reduce_s(fabric, 1e8, 4);
  EXPECT_NEAR(all_reduce_s(fabric, 1e8, 4, Pace::kFast), typical / 2, 1e-12);
  EXPECT_NEAR(all_reduce_s(fabric, 1e8, 4, Pace::kSlow), typical * 2, 1e-12);
}

TEST(Declared, AnUplinkBoundsTheHopsThatLeaveADrawer) {
  SystemFile system = machine();
  system.links["uplink"] = {6.0, std::nullopt, std::nullopt};
  EXPECT_NEAR(bus_of(declared_fabric(system, "falconGPUs", 2)), 12e9, 1) << "nothing leaves";
  EXPECT_NEAR(bus_of(declared_fabric(system, "localGPUs", 2)), 48e9, 1);
  const Fabric falcon = declared_fabric(system, "falconGPUs", 4);
  EXPECT_NEAR(bus_of(falcon), 6e9, 1);
  EXPECT_THAT(falcon.source, HasSubstr("slowest hop, uplink at 6.000 GB/s"));
}

TEST(Declared, FiguresOfOtherMachinesAreToldApart) {
  const SystemFile system = machine();
  const Fabric falcon = declared_fabric(system, "falconGPUs", 4, {{"F-F cross drawer", "made"}});
  EXPECT_EQ(falcon.basis, kLinksUsual);
  EXPECT_THAT(falcon.source, AllOf(HasSubstr("and 4.000 us as seen elsewhere (made)"),
                                   HasSubstr("24.00 GB/s both ways declared by made.yaml")));
  EXPECT_EQ(declared_fabric(system, "falconGPUs", 2, {{"F-F cross drawer", "made"}}).basis,
            kLinksDeclared)
      << "that class is not on its way";
}

TEST(Declared, WhatIsNotThereIsNamed) {
  SystemFile system = machine();
  EXPECT_THAT(refusal(system, "falconGPU", 2), AllOf(HasSubstr("no set of GPUs \"falconGPU\""),
                                                     HasSubstr("falconGPUs"), HasSubstr("or all")));
  system.links.erase("F-F cross drawer");
  EXPECT_EQ(refusal(system, "falconGPUs", 2), "");
  EXPECT_THAT(refusal(system, "falconGPUs", 4),
              AllOf(HasSubstr("declares no speed of F-F cross drawer"), HasSubstr("falcon2")));
  system.links["F-F cross drawer"] = {std::nullopt, std::nullopt, 4.0};
  EXPECT_THAT(refusal(system, "falconGPUs", 4), HasSubstr("declares no speed of F-F cross drawer"));
  system.topologies["one"] = {"local0"};
  EXPECT_THAT(refusal(system, "one", 2), HasSubstr("fewer than two GPUs"));
}

}  // namespace
}  // namespace falcon::analysis
