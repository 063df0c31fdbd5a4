#include "platform/visible_devices.h"

#include <gtest/gtest.h>

namespace falcon::platform {
namespace {

using Positions = std::vector<std::size_t>;

std::vector<Gpu> three_gpus() {
  std::vector<Gpu> gpus(3);
  gpus[0].uuid = "GPU-aa11";
  gpus[1].uuid = "GPU-aa22";
  gpus[2].uuid = "GPU-bb33";
  return gpus;
}

std::optional<Positions> visible(const std::string& value, bool pci_order = true) {
  Environment environment = {{"CUDA_VISIBLE_DEVICES", value}};
  if (pci_order) environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  return visible_gpus(three_gpus(), environment);
}

TEST(VisibleGpus, UnsetShowsAllAndEmptyNone) {
  EXPECT_EQ(visible_gpus(three_gpus(), {}), (Positions{0, 1, 2}));
  EXPECT_EQ(visible(""), Positions());
}

TEST(VisibleGpus, NumbersMeanBusOrderOnlyWhenCudaWasToldSo) {
  EXPECT_EQ(visible("2,0"), (Positions{0, 2}));
  EXPECT_EQ(visible("2,0", false), std::nullopt);
  std::vector<Gpu> one(1);
  EXPECT_EQ(visible_gpus(one, {{"CUDA_VISIBLE_DEVICES", "0"}}), Positions{0});
}

TEST(VisibleGpus, TheListEndsAtTheFirstEntryThatNamesNoGpu) {
  EXPECT_EQ(visible("1,-1,0"), Positions{1});
  EXPECT_EQ(visible("1,7,0"), Positions{1});
  EXPECT_EQ(visible("NoDevFiles"), Positions());
}

TEST(VisibleGpus, UuidsAndTheirUniqueBeginnings) {
  EXPECT_EQ(visible("GPU-bb33,GPU-aa11", false), (Positions{0, 2}));
  EXPECT_EQ(visible("GPU-bb", false), Positions{2});
  EXPECT_EQ(visible("GPU-aa", false), Positions());
  EXPECT_EQ(visible("MIG-1", false), std::nullopt);
}

}  // namespace
}  // namespace falcon::platform
