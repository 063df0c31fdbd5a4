#include "platform/access_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void put(std::string& config, std::size_t at, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    config[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
  }
}

/// Configuration space of a bridge: advanced error reporting at 0x100, then access control.
std::string bridge(std::uint32_t control) {
  std::string config(4096, '\0');
  put(config, 0x100, 0x0001 | 1U << 16 | 0x148U << 20, 4);
  put(config, 0x148, 0x000D | 1U << 16, 4);
  put(config, 0x148 + 4, 0x007F, 2);  // capabilities
  put(config, 0x148 + 6, control, 2);
  return config;
}

std::string path_of(const std::string& address) {
  return "sys/bus/pci/devices/" + address + "/config";
}

TEST(AccessControl, FindsBridgesThatRedirectRequestsOrCompletions) {
  test::FakeRoot folder;
  folder.file(path_of("0000:00:01.0"), bridge(0));
  folder.file(path_of("0000:01:00.0"), bridge(1U << 2));          // requests
  folder.file(path_of("0000:02:00.0"), bridge(1U << 3));          // completions
  folder.file(path_of("0000:03:00.0"), bridge(0b1010011));        // the other bits
  folder.file(path_of("0000:04:00.0"), std::string(4096, '\0'));  // no such capability
  const auto found = redirecting_bridges(
      Root(folder.path()),
      {"0000:00:01.0", "0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0"});
  ASSERT_TRUE(found.has_value()) << found.reason;
  EXPECT_THAT(*found, ElementsAre("0000:01:00.0", "0000:02:00.0"));
}

TEST(AccessControl, IsMissingWithoutTheExtendedSpace) {
  test::FakeRoot folder;
  folder.file(path_of("0000:00:01.0"), bridge(0).substr(0, 64));  // as another user than root
  const Root root(folder.path());
  EXPECT_THAT(redirecting_bridges(root, {"0000:00:01.0"}).reason, HasSubstr("takes root"));
  EXPECT_THAT(redirecting_bridges(root, {"0000:77:01.0"}).reason,
              HasSubstr("/sys/bus/pci/devices/0000:77:01.0/config"));
  EXPECT_THAT(*redirecting_bridges(root, {}), IsEmpty());
}

TEST(AccessControl, ARingOfCapabilitiesEnds) {
  std::string config(4096, '\0');
  put(config, 0x100, 0x0001 | 1U << 16 | 0x148U << 20, 4);
  put(config, 0x148, 0x0003 | 1U << 16 | 0x100U << 20, 4);
  test::FakeRoot folder;
  folder.file(path_of("0000:00:01.0"), config);
  EXPECT_THAT(*redirecting_bridges(Root(folder.path()), {"0000:00:01.0"}), IsEmpty());
}

}  // namespace
}  // namespace falcon::platform
