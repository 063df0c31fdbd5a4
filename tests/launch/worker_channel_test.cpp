// The worker's end of the channel, with the test in the part of the launcher.
#include "launch/worker_channel.h"

#include <cmath>

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/control_channel.h"
#include "launch/worker_arguments.h"

namespace falcon::launch {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kAliveIntervalSeconds = 0.02;

class WorkerChannelTest : public testing::Test {
 protected:
  WorkerChannelTest() : launcher_(Descriptor()) {
    DescriptorPair pair = make_socket_pair();
    launcher_ = ControlChannel(std::move(pair.first));
    worker_fd_ = dup(pair.second.get());
  }
  void send_plan(int protocol = kProtocolVersion) {
    WorkerPlan plan;
    plan.protocol = protocol;
    plan.rank = 5;
    launcher_.say(MessageType::kPlan, plan);
  }
  void send_bytes(const std::string& bytes) {
    ASSERT_EQ(::send(launcher_.fd(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  /// The next message of a type; others are passed over. Fails after 5 s.
  Message next(MessageType type) {
    for (int i = 0; i < 500; ++i) {
      while (!inbox_.empty()) {
        Message message = inbox_.front();
        inbox_.erase(inbox_.begin());
        if (message.type == type) return message;
      }
      pollfd wait = {launcher_.fd(), POLLIN, 0};
      poll(&wait, 1, 10);
      for (Message& message : launcher_.receive()) inbox_.push_back(std::move(message));
    }
    ADD_FAILURE() << "no " << name_of(type);
    return {type, base::Value::object()};
  }

  ControlChannel launcher_;
  int worker_fd_ = -1;
  std::vector<Message> inbox_;
};

TEST_F(WorkerChannelTest, SaysHelloAndTakesThePlan) {
  send_plan();
  WorkerChannel channel(worker_fd_, kAliveIntervalSeconds);
  EXPECT_EQ(channel.plan().rank, 5);
  const auto hello = body_of<Hello>(next(MessageType::kHello));
  EXPECT_EQ(hello.protocol, kProtocolVersion);
  EXPECT_EQ(hello.pid, getpid());
  EXPECT_FALSE(hello.hostname.empty());
}

TEST_F(WorkerChannelTest, TellsItsPhaseAndStep) {
  send_plan();
  WorkerChannel channel(worker_fd_, kAliveIntervalSeconds);
  channel.set_phase("warm_up");
  EXPECT_EQ(body_of<Progress>(next(MessageType::kPhase)).phase, "warm_up");
  channel.set_step(7);
  Progress progress;
  for (int i = 0; i < 50 && progress.step != 7; ++i) {
    progress = body_of<Progress>(next(MessageType::kAlive));
  }
  EXPECT_EQ(progress.step, 7);
  EXPECT_EQ(progress.phase, "warm_up");
  EXPECT_GT(progress.time_s, 0);
}

TEST_F(WorkerChannelTest, ReadsTheStepFromMemoryThatSomethingElseWrites) {
  send_plan();
  WorkerChannel channel(worker_fd_, kAliveIntervalSeconds);
  std::int64_t counter = 0;
  channel.read_step_from(&counter);
  __atomic_store_n(&counter, 41, __ATOMIC_RELEASE);
  channel.set_phase("measure");
  EXPECT_EQ(body_of<Progress>(next(MessageType::kPhase)).step, 41);
  channel.read_step_from(nullptr);
  __atomic_store_n(&counter, 99, __ATOMIC_RELEASE);
  channel.set_phase("finish");
  EXPECT_EQ(body_of<Progress>(next(MessageType::kPhase)).step, 41);
}

TEST_F(WorkerChannelTest, IsAskedToStop) {
  send_plan();
  WorkerChannel channel(worker_fd_, kAliveIntervalSeconds);
  EXPECT_FALSE(channel.stop_requested());
  launcher_.say(MessageType::kStop, Order{"enough"});
  for (int i = 0; i < 500 && !channel.stop_requested(); ++i) usleep(10000);
  EXPECT_TRUE(channel.stop_requested());
}

TEST_F(WorkerChannelTest, HearsAnOrderThatCameTogetherWithThePlan) {
  send_plan();
  launcher_.say(MessageType::kStop, Order{"enough"});
  WorkerChannel channel(worker_fd_, 60);
  for (int i = 0; i < 500 && !channel.stop_requested(); ++i) usleep(10000);
  EXPECT_TRUE(channel.stop_requested());
}

TEST_F(WorkerChannelTest, SendsRecordsLargerThanTheSocketHolds) {
  send_plan();
  WorkerChannel channel(worker_fd_, kAliveIntervalSeconds);
  WorkerRecords records;
  records.step_ms.assign(100000, 1.0 / 3);
  std::thread sender([&] {
    channel.measuring_began(1.5);
    channel.send_records(records);
    channel.measuring_ended(2.5);
    channel.done();
  });
  EXPECT_EQ(body_of<Moment>(next(MessageType::kMeasuringBegan)).time_s, 1.5);
  EXPECT_EQ(body_of<WorkerRecords>(next(MessageType::kRecords)).step_ms, records.step_ms);
  EXPECT_EQ(body_of<Moment>(next(MessageType::kMeasuringEnded)).time_s, 2.5);
  next(MessageType::kDone);
  sender.join();
}

TEST_F(WorkerChannelTest, SendsAFailureWithWhereItWas) {
  send_plan();
  WorkerChannel channel(worker_fd_, kAliveIntervalSeconds);
  channel.set_phase("build");
  channel.set_step(3);
  channel.send_failure("out_of_memory", "first\nsecond \xff\x1b", ExitCode::kHost);
  const auto told = body_of<FailureMessage>(next(MessageType::kFailure));
  EXPECT_EQ(told.failure.kind, "out_of_memory");
  EXPECT_EQ(told.failure.message, "first\nsecond \\xff\\x1b");
  EXPECT_EQ(told.failure.rank, 5);
  EXPECT_EQ(told.failure.phase, "build");
  EXPECT_EQ(told.failure.last_step, 3);
  EXPECT_EQ(told.exit_code, 3);
}

TEST_F(WorkerChannelTest, RefusesRecordsWithNumbersThatAreNone) {
  send_plan();
  WorkerChannel channel(worker_fd_, kAliveIntervalSeconds);
  WorkerRecords records;
  records.step_ms = {std::nan("")};
  EXPECT_THROW(channel.send_records(records), Error);
}

TEST_F(WorkerChannelTest, RefusesALauncherOfAnotherVersion) {
  send_plan(77);
  try {
    WorkerChannel channel(worker_fd_, {});
    ADD_FAILURE() << "version 77 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kWorker);
    EXPECT_THAT(error.what(), HasSubstr("the launcher speaks version 77"));
  }
}

TEST_F(WorkerChannelTest, RefusesToStartWithoutALauncher) {
  launcher_.close();
  EXPECT_THROW(WorkerChannel(worker_fd_, {}), Error);
}

TEST_F(WorkerChannelTest, EndsQuietlyAndClosesTheChannel) {
  send_plan();
  { WorkerChannel channel(worker_fd_, 60); }
  for (int i = 0; i < 100 && launcher_.is_open(); ++i) launcher_.receive();
  EXPECT_FALSE(launcher_.is_open());
}

// The process itself is what ends: it is a child here.
class WorkerProcessTest : public WorkerChannelTest {
 protected:
  int exit_code_after(const std::function<void()>& action) {
    send_plan();
    const pid_t child = fork();
    if (child == 0) {
      launcher_.close();
      WorkerChannel channel(worker_fd_, 60);
      while (true) pause();
    }
    close(worker_fd_);
    next(MessageType::kHello);
    action();
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(WorkerProcessTest, EndsWhenTheLauncherClosesTheChannel) {
  EXPECT_EQ(exit_code_after([&] { launcher_.close(); }), 4);
}

TEST_F(WorkerProcessTest, EndsWhenItIsOrderedTo) {
  const std::string frame = encoded(MessageType::kAbort, Order{"another rank failed"});
  EXPECT_EQ(exit_code_after([&] { send_bytes(frame); }), 4);
}

TEST_F(WorkerProcessTest, EndsWhenTheLauncherTalksNonsense) {
  EXPECT_EQ(exit_code_after([&] { send_bytes(framed("?")); }), 4);
}

TEST(WorkerArgumentsTest, AreReadAsTheyWereWritten) {
  WorkerArguments arguments;
  arguments.control_fd = 3;
  arguments.listen_fd = 4;
  arguments.parent = 77;
  arguments.extra = {"--log", "debug"};
  const WorkerArguments got = parse_worker_arguments(words_of(arguments));
  EXPECT_EQ(got.control_fd, 3);
  EXPECT_EQ(got.listen_fd, 4);
  EXPECT_EQ(got.parent, 77);
  EXPECT_EQ(got.extra, arguments.extra);
  arguments.listen_fd.reset();
  EXPECT_EQ(parse_worker_arguments(words_of(arguments)).listen_fd, std::nullopt);
}

TEST(WorkerArgumentsTest, ThatNobodyWroteAreRefused) {
  using Words = std::vector<std::string>;
  for (const Words& words : {Words{}, Words{"worker"}, Words{"worker", "--control-fd"},
                             Words{"worker", "--control-fd", "3"}, Words{"run"},
                             Words{"worker", "--control-fd", "3x", "--parent", "1"},
                             Words{"worker", "--control-fd", "-3", "--parent", "1"}}) {
    try {
      parse_worker_arguments(words);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
    }
  }
}

TEST(WorkerArgumentsTest, ALauncherThatIsGoneIsNoticed) {
  EXPECT_THROW(bind_to_launcher(getppid() + 1), Error);
}

}  // namespace
}  // namespace falcon::launch
