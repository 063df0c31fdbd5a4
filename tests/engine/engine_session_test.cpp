// Whole ranks, from the plan on the control channel to the records, with the test as the launcher.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <falconbench/records.h>

#include "launch/control_channel.h"
#include "launch/descriptor.h"
#include "launch/messages.h"
#include "launch/worker_channel.h"
#include "worker/engine.h"

namespace falcon {
namespace {

using launch::MessageType;

Plan plan_of(int world) {
  Plan plan;
  plan.spec.model = "mobilenet_v2";
  plan.spec.model_options.classes = 4;
  plan.spec.image_size = 32;
  plan.spec.precision = "fp32";
  plan.spec.optimizer.kind = "sgd";
  plan.spec.optimizer.lr = 1e-3;
  plan.spec.optimizer.momentum = 0.9;
  plan.spec.schedule.kind = "constant";
  plan.spec.data.samples = 64;
  plan.spec.engine.channels_last = false;
  plan.parallelism = world > 1 ? "ddp" : "none";
  plan.data.samples = 64;
  plan.micro_batch = 2;
  plan.batch_per_rank = 2;
  plan.global_batch = 2 * world;
  plan.steps_per_epoch = 64 / plan.global_batch;
  plan.warmup_steps = 1;
  plan.measured_steps = 2;
  for (int rank = 0; rank < world; ++rank) {
    RankPlan one;
    one.rank = rank;
    one.devices = {{"cpu", "", "", "CPU"}};
    plan.ranks.push_back(one);
  }
  return plan;
}

/// What one worker said, and how it ended.
struct Heard {
  std::vector<std::string> phases;
  std::map<MessageType, int> counts;
  std::optional<WorkerRecords> records;
  std::optional<launch::FailureMessage> failure;
  int exit_code = -1;
};

/// One worker in a thread of this process, and the launcher's end of its channel.
class Worker {
 public:
  Worker(const Plan& plan, int rank, const launch::MeetingPoint& place) {
    launch::DescriptorPair pair = launch::make_socket_pair();
    const int control_fd = ::dup(pair.second.get());  // taken over by the worker
    const int listen_fd = rank == 0 ? ::dup(place.listener.socket.get()) : -1;
    channel_ = std::make_unique<launch::ControlChannel>(std::move(pair.first));
    WorkerPlan told;
    told.protocol = launch::kProtocolVersion;
    told.plan = plan;
    told.rank = rank;
    told.store_host = place.host;
    told.store_port = place.port;
    told.watchdog_s = 30;
    channel_->say(MessageType::kPlan, told);
    channel_->flush();
    thread_ = std::thread([this, control_fd, listen_fd] {
      launch::WorkerChannel channel(control_fd);
      heard_.exit_code = falconbench_engine_worker(&channel, listen_fd);
    });
  }
  ~Worker() {
    if (thread_.joinable()) thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Reads until the worker has closed its end.
  Heard listen(const std::function<void(const launch::Message&)>& on_message = nullptr) {
    while (channel_->is_open()) {
      pollfd waiting{channel_->fd(), POLLIN, 0};
      ::poll(&waiting, 1, 100);
      for (const launch::Message& message : channel_->receive()) {
        note(message);
        if (on_message) on_message(message);
      }
    }
    thread_.join();
    return heard_;
  }
  void stop() {
    channel_->say(MessageType::kStop, launch::Order{"test"});
    channel_->flush();
  }

 private:
  void note(const launch::Message& message) {
    heard_.counts[message.type] += 1;
    if (message.type == MessageType::kPhase) {
      heard_.phases.push_back(launch::body_of<launch::Progress>(message).phase);
    } else if (message.type == MessageType::kRecords) {
      heard_.records = launch::body_of<WorkerRecords>(message);
    } else if (message.type == MessageType::kFailure) {
      heard_.failure = launch::body_of<launch::FailureMessage>(message);
    }
  }

  std::unique_ptr<launch::ControlChannel> channel_;
  Heard heard_;
  std::thread thread_;
};

TEST(EngineSession, TwoRanksGoFromPlanToRecords) {
  const launch::MeetingPoint place = launch::local_meeting_point();
  const Plan plan = plan_of(2);
  Worker first(plan, 0, place);
  Worker second(plan, 1, place);
  Heard other;
  std::thread listener([&] { other = second.listen(); });
  const Heard heard = first.listen();
  listener.join();
  for (const Heard* one : {&heard, static_cast<const Heard*>(&other)}) {
    EXPECT_EQ(one->exit_code, 0);
    EXPECT_FALSE(one->failure.has_value());
    EXPECT_EQ(one->phases, (std::vector<std::string>{"connect", "build", "warm_up", "measure",
                                                     "finish", "tear_down"}));
    EXPECT_EQ(one->counts.at(MessageType::kMeasuringBegan), 1);
    EXPECT_EQ(one->counts.at(MessageType::kMeasuringEnded), 1);
    EXPECT_EQ(one->counts.at(MessageType::kDone), 1);
    ASSERT_TRUE(one->records.has_value());
    EXPECT_EQ(one->records->measured_steps, 2);
    EXPECT_EQ(one->records->loss.size(), 3U);
    EXPECT_LT(one->records->started_s, one->records->model_ready_s);
    EXPECT_LE(one->records->measured_end_s, one->records->finished_s);
  }
  EXPECT_EQ(heard.records->parameter_hash, other.records->parameter_hash);
  EXPECT_NE(heard.records->loss, other.records->loss) << "each rank has its own slice";
}

TEST(EngineSession, AStopEndsTheRunInOrder) {
  const launch::MeetingPoint place = launch::local_meeting_point();
  Plan plan = plan_of(1);
  plan.measured_steps = 1000000;
  Worker worker(plan, 0, place);
  const Heard heard = worker.listen([&](const launch::Message& message) {
    if (message.type == MessageType::kMeasuringBegan) worker.stop();
  });
  EXPECT_EQ(heard.exit_code, 0);
  ASSERT_TRUE(heard.records.has_value());
  EXPECT_LT(heard.records->measured_steps, 10000);
}

TEST(EngineSession, WhatGoesWrongIsSaidBeforeTheEnd) {
  const launch::MeetingPoint place = launch::local_meeting_point();
  Plan plan = plan_of(1);
  plan.spec.data.format = "imagefolder";
  plan.data.folder = "/nowhere/at/all";
  Worker worker(plan, 0, place);
  const Heard heard = worker.listen();
  ASSERT_TRUE(heard.failure.has_value());
  EXPECT_NE(heard.failure->failure.message.find("/nowhere/at/all"), std::string::npos)
      << heard.failure->failure.message;
  EXPECT_EQ(heard.failure->failure.phase, "build");
  EXPECT_EQ(heard.exit_code, heard.failure->exit_code);
  EXPECT_FALSE(heard.records.has_value());
}

TEST(EngineSession, AGpuThatIsNotThereIsTheHostsFault) {
  const launch::MeetingPoint place = launch::local_meeting_point();
  Plan plan = plan_of(1);
  plan.ranks[0].devices = {
      {"cuda", "GPU-00000000-0000-0000-0000-000000000000", "00f7:00:00.0", ""}};
  Worker worker(plan, 0, place);
  const Heard heard = worker.listen();
  ASSERT_TRUE(heard.failure.has_value());
  EXPECT_EQ(heard.failure->failure.kind, "host");
  EXPECT_NE(heard.failure->failure.message.find("00f7:00:00.0"), std::string::npos)
      << heard.failure->failure.message;
  EXPECT_EQ(heard.exit_code, static_cast<int>(ExitCode::kHost));
}

}  // namespace
}  // namespace falcon
