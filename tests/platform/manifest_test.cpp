#include "platform/dump/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "falconbench/errors.h"
#include "platform/root.h"

namespace falcon::platform {
namespace {

TEST(Manifest, FilesWithSeveralLinesAndLinksToPlacesWithoutFiles) {
  const Root root(
      expand_manifest("# comment\n"
                      "f sys/a/class: 0x0604\n"
                      "f proc/mounts: one\n+ two\n+\n+ four\n"
                      "f sys/empty:\n"
                      "l sys/bus/a -> ../a\n"
                      "l sys/bus/again -> a\n"
                      "l sys/block/x -> ../a/deep/x\n"));
  EXPECT_EQ(root.read("sys/bus/a/class").value, "0x0604\n");
  EXPECT_EQ(root.text("sys/bus/again/class").value, "0x0604");
  EXPECT_EQ(root.read("proc/mounts").value, "one\ntwo\n\nfour\n");
  EXPECT_EQ(root.resolved("sys/block/x"), "sys/a/deep/x");
  EXPECT_EQ(root.names("sys"), (std::vector<std::string>{"a", "block", "bus", "empty"}));
  EXPECT_EQ(root.names("sys/bus/a"), (std::vector<std::string>{"class", "deep"}));
  EXPECT_FALSE(root.text("sys/empty").has_value());
  EXPECT_FALSE(root.exists("sys/b"));
  EXPECT_EQ(root.read("sys/a").reason, "/sys/a: No such file or directory");
}

TEST(Manifest, LinksInACircleLeadNowhere) {
  const Root root(expand_manifest("l a -> b\nl b -> a\n"));
  EXPECT_EQ(root.resolved("a"), "");
  EXPECT_TRUE(root.names("a/c").empty());
}

TEST(Manifest, NoPathLeavesTheFolder) {
  for (const char* text : {"f ../a: 1\n", "f /etc/a: 1\n", "f a/../../b: 1\n", "l a -> /etc\n",
                           "l a -> ../b\n", "l a/b -> ../../c\n"}) {
    EXPECT_THROW(expand_manifest(text), Error) << text;
  }
}

TEST(Manifest, ALineOfAnotherFormIsRefusedWithItsNumber) {
  try {
    parse_manifest("f a: 1\nsomething else\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("line 2"));
  }
  EXPECT_THROW(parse_manifest("+ a continuation of nothing\n"), Error);
}

TEST(Manifest, IsKnownByItsFirstLine) {
  EXPECT_TRUE(is_manifest("# made by hand\r\n\r\nl sys/bus/a -> ../../b\r\n"));
  EXPECT_TRUE(is_manifest("f sys/a: 1\n"));
  EXPECT_FALSE(is_manifest("from here: 1\n"));
  EXPECT_FALSE(is_manifest(""));
}

}  // namespace
}  // namespace falcon::platform
