// Output of a worker, cut into lines.
#include "launch/output_lines.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace falcon::launch {
namespace {

using testing::ElementsAre;

class OutputLinesTest : public testing::Test {
 protected:
  OutputLinesTest() : pipe_(make_pipe()), output_(std::move(pipe_.first), collect()) {}
  OutputLines::OnLine collect() {
    return [this](const std::string& line) { lines_.push_back(line); };
  }
  void say(const std::string& text) {
    ASSERT_EQ(write(pipe_.second.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    output_.receive();
  }

  std::vector<std::string> lines_;
  DescriptorPair pipe_;
  OutputLines output_;
};

TEST_F(OutputLinesTest, ArePutTogetherFromPieces) {
  say("one\ntw");
  EXPECT_THAT(lines_, ElementsAre("one"));
  say("o\r\n\nthree");
  EXPECT_THAT(lines_, ElementsAre("one", "two", ""));
  output_.finish();  // the pipe is still open at the other end
  EXPECT_THAT(lines_, ElementsAre("one", "two", "", "three"));
  EXPECT_EQ(output_.fd(), -1);
}

TEST_F(OutputLinesTest, AreSafeToShow) {
  say("\x1b[31mred\xff\ttab\n");
  EXPECT_THAT(lines_, ElementsAre("\\x1b[31mred\\xff\\x09tab"));
}

TEST_F(OutputLinesTest, WithoutEndComeInPieces) {
  say(std::string(9000, 'x'));
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_EQ(lines_[0].size(), 4000u);
  output_.finish();
  EXPECT_EQ(lines_[2].size(), 1000u);
}

TEST_F(OutputLinesTest, TheLastFiftyAreKept) {
  for (int i = 0; i < 60; ++i) say(std::to_string(i) + "\n");
  const std::vector<std::string> kept = output_.last_lines();
  ASSERT_EQ(kept.size(), 50u);
  EXPECT_EQ(kept.front(), "10");
  EXPECT_EQ(kept.back(), "59");
}

TEST_F(OutputLinesTest, EndWithThePipe) {
  say("last");
  pipe_.second.close();
  output_.receive();
  EXPECT_EQ(output_.fd(), -1);
  output_.finish();
  EXPECT_THAT(lines_, ElementsAre("last"));
}

}  // namespace
}  // namespace falcon::launch
