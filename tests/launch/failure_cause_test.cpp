// Which of several failures is named, and in which words.
#include "launch/failure_cause.h"

#include <csignal>

#include <gmock/gmock.h>

namespace falcon::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

Candidate message_of(int rank, double time_s) {
  Candidate candidate;
  candidate.failure.kind = "exception";
  candidate.failure.rank = rank;
  candidate.time_s = time_s;
  return candidate;
}

Candidate end_of_rank(int rank, double time_s, ProcessEnd end) {
  Candidate candidate = unexpected_end(end, 42, time_s, {});
  candidate.failure.rank = rank;
  return candidate;
}

const ProcessEnd kKilled = {.by_signal = true, .code = SIGKILL};
const ProcessEnd kAborted = {.by_signal = true, .code = SIGABRT};

TEST(FailureCause, IsTheFirstMessageByTheWorkersClockNotByArrival) {
  const std::vector<Candidate> candidates = {message_of(0, 10.2), message_of(1, 10.1)};
  EXPECT_EQ(cause_of(candidates, 0.3).failure.rank, 1);
}

TEST(FailureCause, IsTheKilledWorkerAlsoWhenItsPeerComplainsFirst) {
  const std::vector<Candidate> candidates = {message_of(0, 10), end_of_rank(1, 10.05, kKilled)};
  EXPECT_EQ(cause_of(candidates, 0.3).failure.rank, 1);
}

TEST(FailureCause, IsNotTheWorkerThatAbortedBecauseItsPeerFailed) {
  const std::vector<Candidate> candidates = {message_of(0, 10), end_of_rank(1, 10.05, kAborted)};
  EXPECT_EQ(cause_of(candidates, 0.3).failure.rank, 0);
}

TEST(FailureCause, IsTheMessageWhenTheEndCameMuchLater) {
  const std::vector<Candidate> candidates = {message_of(0, 10), end_of_rank(1, 10.4, kKilled)};
  EXPECT_EQ(cause_of(candidates, 0.3).failure.rank, 0);
}

TEST(FailureCause, SaysHowAWorkerEnded) {
  const RunFailure killed = unexpected_end(kKilled, 42, 0, {}).failure;
  EXPECT_EQ(killed.kind, "killed");
  EXPECT_THAT(killed.message, HasSubstr("(process 42) was killed by SIGKILL"));
  EXPECT_THAT(killed.message, HasSubstr("memory"));
  EXPECT_THAT(killed.message, HasSubstr("without any output"));
  std::vector<std::string> lines;
  for (int i = 0; i < 12; ++i) lines.push_back("line " + std::to_string(i));
  const RunFailure exited = unexpected_end({.code = 3}, 42, 0, lines).failure;
  EXPECT_EQ(exited.kind, "exited");
  EXPECT_THAT(exited.message, HasSubstr("exit code 3"));
  EXPECT_THAT(exited.message, HasSubstr("\n  line 2\n"));
  EXPECT_THAT(exited.message, Not(HasSubstr("line 1\n")));
}

TEST(FailureCause, KeepsOnlyExitCodesThatSayMoreThanThatAWorkerFailed) {
  EXPECT_EQ(code_of_message(2), ExitCode::kUsage);
  EXPECT_EQ(code_of_message(3), ExitCode::kHost);
  EXPECT_EQ(code_of_message(5), ExitCode::kHang);
  for (const int other : {0, 1, 4, 6, 8, 130, -1}) {
    EXPECT_EQ(code_of_message(other), ExitCode::kWorker) << other;
  }
}

TEST(FailureCause, NamesDevicesByWhatAPersonCanFind) {
  RankPlan rank;
  rank.devices = {{"cuda", "GPU-1", "0000:18:00.0", "NVIDIA H200"}, {"cpu", "", "", ""}};
  EXPECT_EQ(device_text(rank), "NVIDIA H200 (0000:18:00.0), cpu");
}

TEST(FailureCause, SignalsHaveNames) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGRTMAX), "signal " + std::to_string(SIGRTMAX));
}

}  // namespace
}  // namespace falcon::launch
