#include "platform/root.h"

#include <gtest/gtest.h>

#include "platform/pci_address.h"
#include "support/fake_host.h"

namespace falcon::platform {
namespace {

TEST(Root, ReadsBelowTheFolderAndSaysWhatIsMissing) {
  test::FakeRoot fake;
  fake.file("proc/a", " 42 \n");
  fake.file("proc/b", "forty\n");
  fake.file("proc/empty", "\n");
  const Root root(fake.path() + "/");
  EXPECT_EQ(*root.text("proc/a"), "42");
  EXPECT_EQ(*root.integer("proc/a"), 42);
  EXPECT_EQ(root.integer("proc/b").reason, "/proc/b holds forty, not a whole number");
  EXPECT_EQ(root.text("proc/empty").reason, "/proc/empty is empty");
  EXPECT_EQ(root.read("proc/none").reason, "/proc/none: No such file or directory");
  EXPECT_EQ(root.names("proc"), (std::vector<std::string>{"a", "b", "empty"}));
  EXPECT_TRUE(root.names("sys").empty());
}

TEST(Root, FollowsLinksOnlyInsideTheFolder) {
  test::FakeRoot fake;
  fake.file("sys/devices/x/size", "1\n");
  fake.link("sys/block/x", "../devices/x");
  fake.link("sys/block/out", "/usr");
  const Root root(fake.path());
  EXPECT_EQ(root.resolved("sys/block/x"), "sys/devices/x");
  EXPECT_EQ(root.resolved("sys/block/out"), "");
  EXPECT_EQ(root.resolved("sys/block/none"), "");
}

TEST(CpuList, AllFormsOfTheKernel) {
  EXPECT_EQ(*parse_cpu_list("0-3,8\n"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(*parse_cpu_list("5,1,1-2"), (std::vector<int>{1, 2, 5}));
  EXPECT_TRUE(parse_cpu_list("").value->empty());
  for (const char* wrong : {"a", "3-1", "-1", "1-", "0-99999999"}) {
    EXPECT_FALSE(parse_cpu_list(wrong).has_value()) << wrong;
  }
}

TEST(NumberAfter, WholeWordsAtTheBeginningOfALine) {
  const std::string text = "MemTotal:  123 kB\npgfaults 1\npgfault 77\nNode 0 MemTotal: 5 kB\n";
  EXPECT_EQ(*number_after(text, "MemTotal:"), 123);
  EXPECT_EQ(*number_after(text, "pgfault"), 77);
  EXPECT_EQ(*number_after(text, "Node 0 MemTotal:"), 5);
  EXPECT_FALSE(number_after(text, "pgmajfault").has_value());
  EXPECT_FALSE(number_after("pgfault many\n", "pgfault").has_value());
}

TEST(PciAddress, EveryFormBecomesOne) {
  EXPECT_EQ(normal_pci_address("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(normal_pci_address("0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(normal_pci_address("0000:3B:00"), "0000:3b:00.0");
  EXPECT_EQ(normal_pci_address("3B:00.1"), "0000:3b:00.1");
  EXPECT_EQ(normal_pci_address("00010004:04:00.0"), "10004:04:00.0");
  for (const char* wrong : {"", "GPU-1", "0000:3b:20.0", "0000:3b:00.8", "0000:3b:00.0 ", "3b"}) {
    EXPECT_EQ(normal_pci_address(wrong), "") << wrong;
  }
}

TEST(PciAddress, OrderIsByNumber) {
  EXPECT_TRUE(is_before_on_pci("0000:0a:00.0", "0000:b0:00.0"));
  EXPECT_TRUE(is_before_on_pci("ffff:00:00.0", "10000:00:00.0"));
  EXPECT_TRUE(is_before_on_pci("ffff:00:00.0", ""));
  EXPECT_FALSE(is_before_on_pci("", "0000:00:00.0"));
}

}  // namespace
}  // namespace falcon::platform
