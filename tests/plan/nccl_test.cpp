// What NCCL is told, and where nothing can be emulated.
#include "plan/nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "made_host.h"
#include "plan/places.h"

namespace falcon::plan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

// A board of four GPUs with NVLink: g0 and g1 as they are, g2 and g3 play the chassis.
struct Made {
  Host host = made_host(4);
  SystemFile system;
  Plan plan;

  explicit Made(bool emulating = true) {
    std::vector<std::vector<std::string>> paths;
    for (std::size_t i = 0; i < 4; ++i) {
      host.gpus[i].nvlinks = 6;
      host.gpus[i].bridges = std::vector<std::string>{"0000:09:00.0"};
      paths.emplace_back(4, "NV2");
      paths[i][i] = "X";
      SystemGpu& gpu = system.gpus["g" + std::to_string(i)];
      gpu.pci_address = host.gpus[i].pci_address;
      gpu.attach = i < 2 ? "local" : "falcon";
      gpu.emulated = i >= 2;
    }
    host.gpu_paths = paths;
    if (emulating) plan.spec.emulate.falcon_link = kHostStaged;
  }

  NcclPlan settings(const NameOrList& topology, std::optional<std::int64_t> devices = {}) {
    const Placement placement = place(topology, devices, host, system);
    plan.ranks = bind_ranks(placement, host, {});
    plan.backend = placement.on_gpu() ? "nccl" : "gloo";
    plan.places = make_places(placement, host, system, emulates(plan.spec), "");
    return plan_nccl(plan, placement, host, system);
  }

  std::string refusal(const NameOrList& topology, std::optional<std::int64_t> devices = {}) {
    try {
      settings(topology, devices);
    } catch (const InputError& error) {
      return error.what();
    }
    ADD_FAILURE() << "was accepted";
    return {};
  }
};

TEST(NcclSettings, FalconGpusAloneHavePeerToPeerOff) {
  const NcclPlan nccl = Made().settings({"falconGPUs", {}});
  EXPECT_THAT(nccl.environment,
              AllOf(Contains(Pair("NCCL_P2P_DISABLE", "1")),
                    Contains(Pair("NCCL_NVLS_ENABLE", "0")), Contains(Pair("NCCL_DEBUG", "INFO"))));
  EXPECT_EQ(nccl.topology, "");
}

// of the made host, which does not tell its CPU
const std::string kCpu = R"( arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143")";

TEST(NcclSettings, AMixedSetGetsATopologyInWhichFalconGpusAreFarAway) {
  const NcclPlan nccl = Made().settings({"", {"g0", "g1", "g2", "g3"}});
  EXPECT_THAT(nccl.environment, AllOf(Contains(Pair("NCCL_P2P_LEVEL", "PHB")),
                                      Not(Contains(Key("NCCL_P2P_DISABLE")))));
  EXPECT_EQ(nccl.topology, std::string("<system version=\"1\">\n") + "  <cpu numaid=\"0\"" + kCpu +
                               ">\n"
                               "    <pci busid=\"0000:10:00.0\" class=\"0x030200\">\n"
                               "      <gpu sm=\"90\"><nvlink target=\"0000:11:00.0\" count=\"2\" "
                               "tclass=\"0x030200\"/></gpu>\n"
                               "    </pci>\n"
                               "    <pci busid=\"0000:11:00.0\" class=\"0x030200\">\n"
                               "      <gpu sm=\"90\"><nvlink target=\"0000:10:00.0\" count=\"2\" "
                               "tclass=\"0x030200\"/></gpu>\n"
                               "    </pci>\n"
                               "  </cpu>\n"
                               "  <cpu numaid=\"1\"" +
                               kCpu +
                               ">\n"
                               "  </cpu>\n"
                               "  <cpu numaid=\"100\"" +
                               kCpu +
                               ">\n"
                               "    <pci busid=\"0000:12:00.0\" class=\"0x030200\">\n"
                               "      <gpu sm=\"90\"><nvlink target=\"ffff:ff:1f.0\" count=\"1\" "
                               "tclass=\"0x030200\"/></gpu>\n"
                               "    </pci>\n"
                               "  </cpu>\n"
                               "  <cpu numaid=\"101\"" +
                               kCpu +
                               ">\n"
                               "    <pci busid=\"0000:13:00.0\" class=\"0x030200\">\n"
                               "      <gpu sm=\"90\"><nvlink target=\"ffff:ff:1f.0\" count=\"1\" "
                               "tclass=\"0x030200\"/></gpu>\n"
                               "    </pci>\n"
                               "  </cpu>\n"
                               "</system>\n");
}

TEST(NcclSettings, ThroughSwitchesAGpuIsLinkedWithTheSwitch) {
  Made made;
  for (Gpu& gpu : made.host.gpus) gpu.nvlinks = 2;
  EXPECT_THAT(made.settings({"", {"g0", "g1", "g2"}}).topology,
              HasSubstr("<nvlink target=\"ffff:ff:1f.0\" count=\"2\" tclass=\"0x068000\"/>"));
}

TEST(NcclSettings, EveryRunKeepsALogUnlessTheUserHasOne) {
  Made made(false);
  EXPECT_THAT(made.settings({"all", {}}).environment, Contains(Pair("NCCL_DEBUG", "INFO")));
  made.host.environment["NCCL_DEBUG"] = "WARN";
  EXPECT_TRUE(made.settings({"all", {}}).environment.empty());
  EXPECT_TRUE(made.settings({"cpu", {}}).environment.empty());
}

TEST(NcclSettings, WhatCannotBeEmulatedIsRefusedWithTheReason) {
  EXPECT_THAT(Made().refusal({"cpu", {}}), HasSubstr("needs GPUs"));
  EXPECT_THAT(Made().refusal({"falconGPUs", {}}, 1), HasSubstr("one device only"));
  EXPECT_THAT(Made().refusal({"localGPUs", {}}), HasSubstr("none of the GPUs plays one"));
  Made real;
  real.system.gpus["g2"].emulated = false;
  EXPECT_THAT(real.refusal({"falconGPUs", {}}), HasSubstr("g2 sit in a chassis"));
  Made switched;
  switched.host.environment["NCCL_NVLS_ENABLE"] = "1";
  EXPECT_THAT(switched.refusal({"falconGPUs", {}}), HasSubstr("unset NCCL_NVLS_ENABLE"));
  Made own;
  own.host.environment["NCCL_P2P_LEVEL"] = "SYS";
  EXPECT_THAT(own.refusal({"falconGPUs", {}}), HasSubstr("NCCL_P2P_LEVEL is set"));
}

TEST(NcclSettings, AnEmulatedGpuByNameNeedsTheKey) {
  Made made(false);
  EXPECT_THAT(made.refusal({"falconGPUs", {}}), HasSubstr("g2, g3: marked emulated"));
  made.settings({"all", {}});
  EXPECT_FALSE(made.plan.places.gpus[2].emulated) << "by address it is what it is";
  EXPECT_EQ(made.plan.places.gpus[2].attach.value, "local");
}

}  // namespace
}  // namespace falcon::plan
