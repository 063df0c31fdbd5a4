#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace falcon::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

// The k-th step is done at second k.
std::string shown(const Progress::Options& options, std::int64_t steps) {
  CaptureStderr();
  {
    Progress progress(options);
    progress.phase("warm_up", 0.5);
    for (std::int64_t step = 1; step <= steps; ++step) {
      if (step == options.warmup_steps + 1)
        progress.phase("measure", static_cast<double>(step) - 0.5);
      progress.step(step, static_cast<double>(step));
    }
  }
  return GetCapturedStderr();
}

TEST(Progress, PlainLinesEveryFiveSeconds) {
  EXPECT_EQ(shown({6, 20, 8, false, false}, 13),
            "warm-up   step 1/6  0.0 samples/s\n"
            "measuring step 0/20  8.0 samples/s\n"
            "measuring step 5/20  8.0 samples/s\n");
}

TEST(Progress, WithoutANumberOfStepsThereIsNoTotal) {
  EXPECT_EQ(shown({0, std::nullopt, 4, false, false}, 6),
            "measuring step 1  0.0 samples/s\n"
            "measuring step 6  4.0 samples/s\n");
}

TEST(Progress, ATerminalHasABarThatIsRedrawnAndWipedAtTheEnd) {
  const std::string text = shown({0, 10, 1, true, false}, 10);
  EXPECT_THAT(text, HasSubstr("\r\033[K[###...........................] measuring step 1/10"));
  EXPECT_THAT(text, HasSubstr("[##############################] measuring step 10/10"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_TRUE(text.ends_with("\r\033[K"));
}

TEST(Progress, ABarHasRoomForMoreStepsThanPlanned) {
  EXPECT_THAT(shown({0, 2, 1, true, false}, 3), HasSubstr("[##############################]"));
}

TEST(Progress, QuietShowsNothing) {
  EXPECT_THAT(shown({2, 10, 1, true, true}, 12), IsEmpty());
  EXPECT_THAT(shown({2, 10, 1, false, true}, 12), IsEmpty());
}

}  // namespace
}  // namespace falcon::cli
