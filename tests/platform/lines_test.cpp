#include "platform/dump/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/dump/bit_mask.h"

namespace falcon::platform {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Lines, LineEndsOfBothKindsAndTerminalEscapesAreTakenOff) {
  EXPECT_THAT(clean_lines("\x1b[4mGPU0\tGPU1\x1b[0m\r\nb\n"), ElementsAre("GPU0\tGPU1", "b"));
  EXPECT_THAT(clean_lines("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(whole_lines("a\nb\nc"), ElementsAre("a", "b"));
  EXPECT_THAT(whole_lines("a"), IsEmpty());
  EXPECT_THAT(clean_lines("a\x1b"), ElementsAre("a"));
  EXPECT_THAT(clean_lines(""), IsEmpty());
}

TEST(Lines, AKeyEndsAtAColonBeforeABlank) {
  EXPECT_EQ(key_and_value("  Bus Id   : 00000000:68:00.0 "),
            (std::pair<std::string, std::string>("Bus Id", "00000000:68:00.0")));
  EXPECT_EQ(key_and_value("Name:"), (std::pair<std::string, std::string>("Name", "")));
  EXPECT_FALSE(key_and_value("GPU 00000000:68:00.0").has_value());
}

TEST(Lines, NumbersAtTheBeginningOfAText) {
  EXPECT_EQ(leading_number("16x"), 16);
  EXPECT_EQ(leading_number("[N/A]"), std::nullopt);
  EXPECT_EQ(leading_number("x8"), std::nullopt);
  EXPECT_DOUBLE_EQ(leading_real("26.562 GB/s").value(), 26.562);
}

TEST(Lines, ListsOfRanges) {
  EXPECT_EQ(list_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(list_text({5}), "5");
  EXPECT_EQ(list_text({}), "");
}

TEST(BitMask, WordsOfHwlocAndOfNccl) {
  EXPECT_THAT(bits_of("0x00000101"), ElementsAre(0, 8));
  EXPECT_THAT(bits_of("0x00000001,,0x0"), ElementsAre(64));
  EXPECT_THAT(bits_of("00000001,80000000"), ElementsAre(31, 32));
  EXPECT_THAT(bits_of("no mask"), IsEmpty());
  EXPECT_THAT(bits_of(""), IsEmpty());
}

}  // namespace
}  // namespace falcon::platform
