// Whole runs with scripted workers: every way a worker may end.
#include <cstdlib>
#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/json.h"
#include "falconbench/clock.h"
#include "launch_testing.h"

namespace falcon::launch {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class RunTest : public LaunchTest {};

TEST_F(RunTest, WorkersDoTheirWorkAndTheLogHoldsIt) {
  std::map<std::string, int> calls;
  LaunchOptions options = options_of({});
  options.on_started = [&](int, pid_t) { ++calls["started"]; };
  options.on_phase = [&](int, const Progress&) { ++calls["phase"]; };
  options.on_progress = [&](int, const Progress&) { ++calls["progress"]; };
  options.on_measuring_began = [&](int, double) { ++calls["began"]; };
  options.on_measuring_ended = [&](int, double) { ++calls["ended"]; };
  const RunLog log = run(plan_of(2), options);

  EXPECT_EQ(log.status, "ok");
  EXPECT_EQ(log.exit_code, 0);
  EXPECT_FALSE(log.failure.has_value());
  ASSERT_EQ(log.records.size(), 2u);
  ASSERT_EQ(log.workers.size(), 2u);
  for (int rank = 0; rank < 2; ++rank) {
    const auto& records = log.records[static_cast<std::size_t>(rank)];
    const WorkerEnd& end = log.workers[static_cast<std::size_t>(rank)];
    ASSERT_TRUE(records.has_value());
    EXPECT_EQ(records->rank, rank);
    EXPECT_EQ(records->pid, end.pid);
    EXPECT_EQ(records->loss, (std::vector<std::optional<double>>{2.5, std::nullopt}));
    EXPECT_EQ(end.ended, "exit code 0");
    EXPECT_FALSE(end.ended_by_launcher);
    EXPECT_GT(*end.peak_rss_bytes, 1 << 20);
    EXPECT_GE(*end.user_s + *end.system_s, 0);
    EXPECT_THAT(details_of(log, "phase", rank),
                ElementsAre("connect", "build", "warm_up", "measure", "finish", "tear_down"));
  }
  EXPECT_EQ(log.workers[0].last_step, 12);
  EXPECT_EQ(calls["started"], 2);
  EXPECT_EQ(calls["phase"], 12);
  EXPECT_GE(calls["progress"], 12);
  EXPECT_EQ(calls["began"], 2);
  EXPECT_EQ(calls["ended"], 2);
  EXPECT_GT(log.ended_s, log.started_s);
  EXPECT_GT(log.supervisor_peak_rss_bytes, 1 << 20);
  EXPECT_EQ(log.started_at.size(), log.ended_at.size());
}

TEST_F(RunTest, TheLogSurvivesTheCodec) {
  const RunLog log = run(plan_of(2), options_of({"1=throw"}));
  const std::string text = base::to_json(base::to_value(log));
  const auto again = base::from_value<RunLog>(base::parse_json(text, "log"));
  EXPECT_EQ(base::to_json(base::to_value(again)), text);
  EXPECT_FALSE(again.records[1].has_value());
}

TEST_F(RunTest, EightWorkers) {
  const RunLog log = run(plan_of(8), options_of({}));
  EXPECT_EQ(log.status, "ok");
  EXPECT_THAT(log.records, Each(testing::Ne(std::nullopt)));
}

TEST_F(RunTest, AWorkerFindsItsEnvironmentAndNoOtherDescriptors) {
  setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST", 1);
  const int leaked = dup(0);  // without close-on-exec
  std::map<int, std::vector<std::string>> lines;
  LaunchOptions options = options_of({"show=start"});
  options.on_log = [&](int rank, const std::string& line) { lines[rank].push_back(line); };
  const RunLog log = run(plan_of(2), options);
  close(leaked);
  unsetenv("CUDA_DEVICE_ORDER");
  EXPECT_EQ(log.status, "ok");
  // 5: the channel's eventfd; its thread is already there
  EXPECT_THAT(lines[0], ElementsAre("order PCI_BUS_ID threads 3", "fd 0", "fd 1", "fd 2", "fd 3",
                                    "fd 4", "fd 5"));
  EXPECT_THAT(lines[1],
              ElementsAre("order PCI_BUS_ID threads 3", "fd 0", "fd 1", "fd 2", "fd 3", "fd 4"));
}

TEST_F(RunTest, AWorkerThatThrowsIsQuoted) {
  const RunLog log = run(plan_of(2), options_of({"steps=0", "1=throw"}));
  EXPECT_EQ(log.status, "failed");
  EXPECT_EQ(log.exit_code, 4);
  ASSERT_TRUE(log.failure.has_value());
  EXPECT_EQ(log.failure->kind, "exception");
  EXPECT_EQ(log.failure->message, "the loss is made of cheese: \\xff");
  EXPECT_EQ(log.failure->rank, 1);
  EXPECT_EQ(log.failure->device, "CPU");
  EXPECT_EQ(log.failure->phase, "measure");
  EXPECT_EQ(log.failure->last_step, 5);
  EXPECT_FALSE(log.failure->host.empty());
  EXPECT_EQ(log.workers[1].ended, "exit code 4");
  EXPECT_TRUE(log.workers[0].ended_by_launcher);
}

TEST_F(RunTest, AFaultOfTheHostKeepsItsExitCode) {
  const RunLog log = run(plan_of(1), options_of({"0=host_fault"}));
  EXPECT_EQ(log.exit_code, 3);
  EXPECT_EQ(log.failure->kind, "host");
}

TEST_F(RunTest, AWorkerThatEndsWithoutAWordIsQuotedByItsLastLines) {
  const RunLog log = run(plan_of(2), options_of({"steps=0", "1=talk_then_exit3"}));
  EXPECT_EQ(log.exit_code, 4);
  EXPECT_EQ(log.failure->kind, "exited");
  EXPECT_EQ(log.failure->rank, 1);
  EXPECT_THAT(log.failure->message, HasSubstr("ended with exit code 3"));
  EXPECT_THAT(log.failure->message, HasSubstr("line 59\n  last \\x1b[1m words"));
  ASSERT_EQ(log.workers[1].last_lines.size(), 50u);
  EXPECT_EQ(log.workers[1].last_lines.front(), "line 11");
  EXPECT_TRUE(log.workers[0].last_lines.empty());
}

TEST_F(RunTest, AWorkerThatEndsWellWithoutResultsHasFailed) {
  const RunLog log = run(plan_of(1), options_of({"0=exit0"}));
  EXPECT_EQ(log.exit_code, 4);
  EXPECT_EQ(log.failure->kind, "exited");
}

TEST_F(RunTest, AKilledWorkerIsNoticedAtOnce) {
  const double before_s = steady_now_s();
  const RunLog log = run(plan_of(3), options_of({"steps=0", "2=kill"}));
  EXPECT_LT(steady_now_s() - before_s, 5);
  EXPECT_EQ(log.exit_code, 4);
  EXPECT_EQ(log.failure->kind, "killed");
  EXPECT_EQ(log.failure->rank, 2);
  EXPECT_EQ(log.failure->phase, "measure");
  EXPECT_THAT(log.failure->message, HasSubstr("was killed by SIGKILL"));
  EXPECT_EQ(log.workers[2].ended, "killed by SIGKILL");
  EXPECT_FALSE(log.workers[2].ended_by_launcher);
}

TEST_F(RunTest, AnAbortedWorkerIsNamedByItsSignal) {
  const RunLog log = run(plan_of(1), options_of({"0=abort"}));
  EXPECT_EQ(log.failure->kind, "killed");
  EXPECT_THAT(log.failure->message, HasSubstr("SIGABRT"));
}

TEST_F(RunTest, AStoppedWorkerIsFoundByItsSilence) {
  LaunchOptions options = options_of({"steps=0", "1=stop"});
  options.limits.alive_timeout_s = 1.5;
  const RunLog log = run(plan_of(2), options);
  EXPECT_EQ(log.exit_code, 5);
  EXPECT_EQ(log.failure->kind, "hang");
  EXPECT_EQ(log.failure->rank, 1);
  EXPECT_THAT(log.failure->message, HasSubstr("the process is stopped (state T)"));
  EXPECT_EQ(log.workers[1].ended, "killed by SIGKILL");
}

TEST_F(RunTest, AWorkerThatMakesNoStepIsFound) {
  LaunchOptions options = options_of({"steps=0", "1=hang"});
  options.limits.progress_min_s = 1.5;
  const RunLog log = run(plan_of(2), options);
  EXPECT_EQ(log.exit_code, 5);
  EXPECT_EQ(log.failure->kind, "hang");
  EXPECT_EQ(log.failure->rank, 1);
  EXPECT_EQ(log.failure->phase, "measure");
  EXPECT_EQ(log.failure->last_step, 5);
  EXPECT_THAT(log.failure->message, HasSubstr("is alive, but has made no progress"));
  EXPECT_THAT(log.failure->message, HasSubstr("other ranks: 0 at step"));
}

TEST_F(RunTest, AHangInSetUpHasItsOwnLimit) {
  LaunchOptions options = options_of({"0=hang_build"});
  options.limits.setup_timeout_s = 0.7;
  const RunLog log = run(plan_of(1), options);
  EXPECT_EQ(log.exit_code, 5);
  EXPECT_EQ(log.failure->phase, "build");
}

TEST_F(RunTest, AWorkerThatNeverSaysHelloIsFound) {
  LaunchOptions options = options_of({"all=mute"});
  options.limits.setup_timeout_s = 0.7;
  const RunLog log = run(plan_of(2), options);
  EXPECT_EQ(log.exit_code, 5);
  EXPECT_EQ(log.failure->kind, "hang");
  EXPECT_EQ(log.failure->phase, "start");
}

TEST_F(RunTest, AWorkerThatIgnoresSigtermIsKilledInTime) {
  LaunchOptions options = options_of({"all=ignore_term"});
  options.limits.setup_timeout_s = 0.5;
  const double before_s = steady_now_s();
  const RunLog log = run(plan_of(2), options);
  EXPECT_LT(steady_now_s() - before_s, 0.5 + options.limits.stop_grace_s + 1);
  EXPECT_EQ(log.workers[0].ended, "killed by SIGKILL");
  EXPECT_TRUE(log.workers[0].ended_by_launcher);
}

TEST_F(RunTest, AClosedChannelIsAFailure) {
  const RunLog log = run(plan_of(1), options_of({"all=close_channel"}));
  EXPECT_EQ(log.exit_code, 4);
  EXPECT_EQ(log.failure->kind, "protocol");
  EXPECT_THAT(log.failure->message, HasSubstr("closed its control channel"));
}

TEST_F(RunTest, AWorkerOfAnotherVersionIsRefused) {
  const RunLog log = run(plan_of(2), options_of({"all=old_version"}));
  EXPECT_EQ(log.exit_code, 4);
  EXPECT_EQ(log.failure->kind, "protocol");
  EXPECT_THAT(log.failure->message, HasSubstr("version 999"));
}

TEST_F(RunTest, NonsenseOnTheChannelIsRefused) {
  const RunLog log = run(plan_of(1), options_of({"all=nonsense"}));
  EXPECT_EQ(log.exit_code, 4);
  EXPECT_EQ(log.failure->kind, "protocol");
}

TEST_F(RunTest, AFloodOfOutputHoldsNothingUp) {
  std::size_t num_lines = 0;
  LaunchOptions options = options_of({"0=flood"});
  options.on_log = [&](int, const std::string&) { ++num_lines; };
  const RunLog log = run(plan_of(2), options);
  EXPECT_EQ(log.status, "ok");
  EXPECT_EQ(num_lines, 50000u);
}

TEST_F(RunTest, GrandchildrenEndWithTheirWorker) {
  long grandchild = 0;
  LaunchOptions options = options_of({"0=grandchild"});
  options.on_log = [&](int, const std::string& line) { grandchild = std::stol(line); };
  const RunLog log = run(plan_of(1), options);
  EXPECT_EQ(log.status, "ok");
  ASSERT_GT(grandchild, 0);
  for (int i = 0; i < 250 && is_process_there(grandchild); ++i) usleep(20000);
  EXPECT_FALSE(is_process_there(grandchild));
}

TEST_F(RunTest, AHangInTearDownDoesNotCostTheResults) {
  const RunLog log = run(plan_of(2), options_of({"1=hang_teardown"}));
  EXPECT_EQ(log.status, "ok");
  EXPECT_EQ(log.exit_code, 0);
  EXPECT_THAT(log.records, Each(testing::Ne(std::nullopt)));
  EXPECT_FALSE(log.workers[0].ended_by_launcher);
  EXPECT_TRUE(log.workers[1].ended_by_launcher);
  EXPECT_EQ(log.workers[1].phase, "tear_down");
}

TEST_F(RunTest, ACrashInTearDownDoesNotCostTheResults) {
  const RunLog log = run(plan_of(1), options_of({"0=exit7_after_records"}));
  EXPECT_EQ(log.status, "ok");
  EXPECT_TRUE(log.records[0].has_value());
  EXPECT_EQ(log.workers[0].ended, "exit code 7");
  EXPECT_FALSE(log.workers[0].ended_by_launcher);
}

TEST_F(RunTest, ASlowShutdownIsWaitedFor) {
  const RunLog log = run(plan_of(1), options_of({"0=slow_shutdown"}));
  EXPECT_EQ(log.status, "ok");
  EXPECT_EQ(log.workers[0].ended, "exit code 0");
  EXPECT_FALSE(log.workers[0].ended_by_launcher);
}

TEST_F(RunTest, TheTimeLimitAsksForAnEndFirst) {
  Plan plan = plan_of(2);
  plan.spec.timeout_s = 1;
  const RunLog log = run(plan, options_of({"steps=0"}));
  EXPECT_EQ(log.status, "failed");
  EXPECT_EQ(log.exit_code, 5);
  EXPECT_EQ(log.failure->kind, "deadline");
  EXPECT_EQ(log.failure->rank, -1);
  EXPECT_GT(log.failure->last_step, 2);
  EXPECT_LT(log.supervisor_cpu_s, 0.3 * (log.ended_s - log.started_s)) << "the launcher spins";
  EXPECT_THAT(log.records, Each(testing::Ne(std::nullopt)));
}

TEST_F(RunTest, TheTimeLimitHoldsForWorkersThatDoNotListen) {
  Plan plan = plan_of(1);
  plan.spec.timeout_s = 0.5;
  LaunchOptions options = options_of({"steps=0", "0=deaf"});
  options.limits.finish_grace_s = 0.5;
  const double before_s = steady_now_s();
  const RunLog log = run(plan, options);
  EXPECT_LT(steady_now_s() - before_s, 4);
  EXPECT_EQ(log.exit_code, 5);
  EXPECT_EQ(log.failure->kind, "deadline");
  EXPECT_EQ(log.records[0], std::nullopt);
}

TEST_F(RunTest, TheTimeLimitCountsFromTheStartOfTheWholeRun) {
  Plan plan = plan_of(1);
  plan.spec.timeout_s = 100;
  LaunchOptions options = options_of({"steps=0"});
  options.started_s = steady_now_s() - 99.5;
  const double before_s = steady_now_s();
  const RunLog log = run(plan, options);
  EXPECT_LT(steady_now_s() - before_s, 5);
  EXPECT_EQ(log.failure->kind, "deadline");
}

TEST_F(RunTest, AMissingProgramIsAFaultOfTheHost) {
  LaunchOptions options = options_of({});
  options.executable = "/nowhere/falconbench";
  const RunLog log = run(plan_of(2), options);
  EXPECT_EQ(log.exit_code, 3);
  EXPECT_EQ(log.failure->kind, "host");
  EXPECT_THAT(log.failure->message, HasSubstr("/nowhere/falconbench"));
  EXPECT_EQ(log.failure->rank, 0);
  EXPECT_EQ(log.workers[1].ended, "not started");
}

TEST_F(RunTest, WhenTheThirdCannotBeStartedTheFirstTwoAreEnded) {
  const std::string link = testing::TempDir() + "falcon_worker_" + std::to_string(getpid());
  std::filesystem::create_symlink(SCRIPTED_WORKER, link);
  LaunchOptions options = options_of({});
  options.executable = link;
  options.on_started = [&](int rank, pid_t) {
    if (rank == 1) std::filesystem::remove(link);
  };
  const RunLog log = run(plan_of(4), options);
  EXPECT_EQ(log.exit_code, 3);
  EXPECT_EQ(log.failure->rank, 2);
  EXPECT_TRUE(log.workers[0].ended_by_launcher);
  EXPECT_TRUE(log.workers[1].ended_by_launcher);
  EXPECT_EQ(log.workers[2].ended, "not started");
  EXPECT_EQ(log.workers[3].ended, "not started");
}

TEST_F(RunTest, WhenDescriptorsRunOutTheStartedOnesAreEnded) {
  rlimit former{};
  getrlimit(RLIMIT_NOFILE, &former);
  LaunchOptions options = options_of({});
  options.on_started = [&](int rank, pid_t) {
    rlimit low = former;
    low.rlim_cur = 1;
    if (rank == 1) setrlimit(RLIMIT_NOFILE, &low);
  };
  const RunLog log = run(plan_of(3), options);
  setrlimit(RLIMIT_NOFILE, &former);
  EXPECT_EQ(log.exit_code, 3);
  EXPECT_EQ(log.failure->rank, 2);
  EXPECT_THAT(log.failure->message, HasSubstr("Too many open files"));
  EXPECT_TRUE(log.workers[1].ended_by_launcher);
}

TEST_F(RunTest, AnExceptionOfACallbackLeavesNoWorkerBehind) {
  LaunchOptions options = options_of({"steps=0"});
  std::vector<pid_t> pids;
  options.on_started = [&](int, pid_t pid) { pids.push_back(pid); };
  options.on_measuring_began = [](int, double) { throw std::runtime_error("no"); };
  EXPECT_THROW(run(plan_of(2), options), std::runtime_error);
  ASSERT_EQ(pids.size(), 2u);
  for (const pid_t pid : pids) EXPECT_FALSE(is_process_there(pid));
}

TEST_F(RunTest, APlanWithoutRanksIsOurOwnFault) {
  EXPECT_THROW(run(Plan(), options_of({})), Error);
}

}  // namespace
}  // namespace falcon::launch
