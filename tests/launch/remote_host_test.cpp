// Another host as the head holds it: its clock, its workers, its loss; and a listener with a
// client.
#include "launch/remote_host.h"

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include <gmock/gmock.h>

#include "falconbench/clock.h"
#include "launch/network.h"

namespace falcon::launch {
namespace {

using testing::HasSubstr;

constexpr double kAheadSeconds = 1000;

Waiting for_seconds(double seconds) {
  Waiting waiting;
  waiting.until_s = steady_now_s() + seconds;
  return waiting;
}

/// A host with ranks 2 and 3 whose launcher is a thread of the test.
class RemoteHostTest : public testing::Test {
 protected:
  RemoteHostTest() : other_(Descriptor()) {
    DescriptorPair pair = make_socket_pair();
    other_ = ControlChannel(std::move(pair.second));
    HostHello hello;
    hello.name = "B";
    hello.ranks = {2, 3};
    host_ = std::make_unique<RemoteHost>(ControlChannel(std::move(pair.first)), hello);
  }
  ~RemoteHostTest() override {
    host_.reset();
    if (answering_.joinable()) answering_.join();
  }
  /// The launcher answers from now on, on a clock that is ahead.
  void answer() {
    answering_ = std::thread([this] {
      while (other_.is_open() && for_seconds(30).poll_one(other_.fd(), POLLIN)) {
        for (const Message& message : other_.receive()) {
          if (message.type != MessageType::kPing) continue;
          const double sent_s = body_of<Ping>(message).sent_s;
          other_.say(MessageType::kPong, Ping{sent_s, steady_now_s() + kAheadSeconds});
        }
      }
    });
  }
  template <class T>
  void hears(MessageType type, const T& body) {
    other_.say(type, body);
    host_->receive(steady_now_s());
  }

  ControlChannel other_;
  std::unique_ptr<RemoteHost> host_;
  std::thread answering_;
};

TEST_F(RemoteHostTest, ClocksAreAlignedAsExactlyAsIsSaid) {
  answer();
  host_->align_clock(for_seconds(30));
  const RunHost facts = host_->facts();
  EXPECT_NEAR(*facts.clock_offset_s, kAheadSeconds, *facts.clock_uncertainty_s);
  EXPECT_LT(*facts.clock_uncertainty_s, 1);
  EXPECT_NEAR(host_->here_s(kAheadSeconds + 7), 7, *facts.clock_uncertainty_s);
}

TEST_F(RemoteHostTest, AClockThatWasNotAskedIsNotKnown) {
  EXPECT_FALSE(host_->facts().clock_offset_s.has_value());
}

TEST_F(RemoteHostTest, WorkersSpeakThroughTheirHost) {
  const auto process = host_->process_of(3);
  const auto channel = host_->channel_of(3);
  hears(MessageType::kHostStarted, HostStarted{3, 4711});
  hears(MessageType::kHostWord, HostWord{3, "done", base::Value()});
  EXPECT_EQ(process->pid(), 4711);
  EXPECT_EQ(channel->bytes_read(), 0u);
  const std::vector<Message> messages = channel->receive();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].type, MessageType::kDone);
  EXPECT_EQ(channel->bytes_read(), 1u);
  EXPECT_FALSE(process->reap());
  ProcessEnd end;
  end.by_signal = true;
  end.code = SIGKILL;
  hears(MessageType::kHostEnded, HostEnded{3, end});
  EXPECT_TRUE(process->reap());
  EXPECT_FALSE(process->reap()) << "told once";
  EXPECT_EQ(to_text(*process->end()), "killed by SIGKILL");
}

TEST_F(RemoteHostTest, OrdersAndSignalsGoThere) {
  host_->channel_of(2)->say(MessageType::kStop, Order{"enough"});
  host_->process_of(2)->signal_group(SIGTERM);
  const std::vector<Message> messages = other_.receive();
  ASSERT_EQ(messages.size(), 2u);
  const auto word = body_of<HostWord>(messages[0]);
  EXPECT_EQ(word.rank, 2);
  EXPECT_EQ(word.type, "stop");
  EXPECT_EQ(body_of<HostSignal>(messages[1]).signal, SIGTERM);
}

TEST_F(RemoteHostTest, WithTheHostItsWorkersAreLost) {
  const auto process = host_->process_of(2);
  const auto channel = host_->channel_of(2);
  host_->lose("lost with its host");
  EXPECT_FALSE(channel->is_open());
  EXPECT_TRUE(process->reap());
  EXPECT_EQ(to_text(*process->end()), "lost with its host");
  EXPECT_FALSE(host_->wait_for_sight(for_seconds(10)).has_value());
}

TEST_F(RemoteHostTest, InTheEndItSaysWhatItsLauncherSaw) {
  HostSight sight;
  sight.telemetry.utilization.window_s = 7.0;
  sight.storage.facts = StorageFacts{};
  sight.storage.facts.value->folder = "/data";
  other_.say(MessageType::kHostSight, sight);
  const Measured<HostSight> seen = host_->wait_for_sight(for_seconds(10));
  EXPECT_EQ(*seen.value->telemetry.utilization.window_s, 7);
  EXPECT_EQ(seen.value->storage.facts.value->folder, "/data");
  EXPECT_EQ(other_.receive().at(0).type, MessageType::kHostFinish);
}

// While it makes its data set, for example.
TEST_F(RemoteHostTest, SignsOfLifeGiveItMoreTime) {
  constexpr double kPatienceSeconds = 3;
  std::thread busy([this] {
    for (int i = 0; i < 8; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      other_.say(MessageType::kHostAlive, Nothing{});
    }
    HostOffer offer;
    offer.samples = 17;
    other_.say(MessageType::kHostOffer, offer);
  });
  EXPECT_EQ(host_->wait_for_offer(for_seconds(kPatienceSeconds)).samples, 17);
  busy.join();
}

TEST_F(RemoteHostTest, OneThatSaysNothingIsNotWaitedForLonger) {
  try {
    host_->wait_for_offer(for_seconds(0.2));
    ADD_FAILURE() << "accepted";
  } catch (const HostError& error) {
    EXPECT_EQ(error.code(), ExitCode::kHang);
    EXPECT_EQ(error.host(), "B");
  }
}

TEST_F(RemoteHostTest, WhatItMayNotSayIsRefused) {
  EXPECT_THROW(hears(MessageType::kHostStarted, HostStarted{0, 1}), Error);
  EXPECT_THROW(hears(MessageType::kPlan, Nothing{}), Error);
}

TEST_F(RemoteHostTest, ARefusalNamesTheHost) {
  other_.say(MessageType::kRefuse, Refusal{3, "no GPU"});
  try {
    host_->wait_for_offer(for_seconds(10));
    ADD_FAILURE() << "accepted";
  } catch (const HostError& error) {
    EXPECT_EQ(error.code(), ExitCode::kHost);
    EXPECT_EQ(error.host(), "B");
    EXPECT_THAT(error.what(), HasSubstr("no GPU"));
  }
}

TEST(Network, AClientFindsTheListener) {
  const Listener listener = listen_on("127.0.0.2", 0);
  const Descriptor client = connect_to("127.0.0.2", listener.port, for_seconds(10));
  const Descriptor server = accept_from(listener);
  ASSERT_TRUE(server.is_open());
  EXPECT_EQ(local_address(server), "127.0.0.2");
  EXPECT_EQ(peer_address(client), "127.0.0.2");
  EXPECT_EQ(interface_of("127.0.0.2"), "lo");
}

TEST(Network, ANameListensOnAllAddresses) {
  const Listener listener = listen_on("localhost", 0);
  EXPECT_TRUE(connect_to("localhost", listener.port, for_seconds(10)).is_open());
}

TEST(Network, NobodyThereIsNamed) {
  const int port = listen_on("127.0.0.2", 0).port;  // closed at once
  try {
    connect_to("127.0.0.2", port, for_seconds(0.3));
    ADD_FAILURE() << "connected";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kHost);
    EXPECT_THAT(error.what(), HasSubstr("127.0.0.2 port " + std::to_string(port)));
  }
}

}  // namespace
}  // namespace falcon::launch
