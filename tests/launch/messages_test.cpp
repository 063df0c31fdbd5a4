// Frames and messages: both ways, cut short, too large, of another version.
#include "launch/messages.h"

#include <limits>

#include <gmock/gmock.h>

#include "launch/frames.h"

namespace falcon::launch {
namespace {

using testing::HasSubstr;

std::string what_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kWorker);
    return error.what();
  }
  return "nothing was thrown";
}

Message sent_and_received(const std::string& frame) {
  FrameReader reader;
  reader.feed(frame);
  return decode(reader.next().value());
}

TEST(Frames, ArriveInPiecesOfAnySize) {
  const std::vector<std::string> payloads = {"", "a", std::string(70000, 'b'), "last"};
  std::string stream;
  for (const std::string& payload : payloads) stream += framed(payload);
  for (const std::size_t piece : {1u, 3u, 4u, 5u, 1000u, 100000u}) {
    FrameReader reader;
    std::vector<std::string> got;
    for (std::size_t i = 0; i < stream.size(); i += piece) {
      reader.feed(std::string_view(stream).substr(i, piece));
      while (auto payload = reader.next()) got.push_back(*payload);
    }
    EXPECT_EQ(got, payloads) << "pieces of " << piece;
    EXPECT_FALSE(reader.is_inside_frame());
  }
}

TEST(Frames, ThatAreCutShortAreNotHandedOut) {
  const std::string frame = framed("payload");
  for (std::size_t size = 1; size < frame.size(); ++size) {
    FrameReader reader;
    reader.feed(std::string_view(frame).substr(0, size));
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_TRUE(reader.is_inside_frame());
  }
}

TEST(Frames, AboveTheLimitAreRefusedOnBothSides) {
  EXPECT_THROW(framed("12345", 4), Error);
  FrameReader reader(4);
  reader.feed(framed("12345"));
  EXPECT_THAT(what_of([&] { reader.next(); }), HasSubstr("claims 5 bytes, the limit is 4"));
}

TEST(Messages, CarryAPlan) {
  WorkerPlan plan;
  plan.protocol = kProtocolVersion;
  plan.rank = 3;
  plan.store_port = 12345;
  plan.plan.run_id = "2026-\xc3\xa9";
  plan.plan.ranks.resize(4);
  plan.plan.ranks[2].cpus = {4, 5};
  plan.plan.measured_steps = 7;
  plan.plan.spec.budget.steps = 7;
  plan.plan.spec_origin["budget.steps"] = "x.yaml:3";
  const Message message = sent_and_received(encoded(MessageType::kPlan, plan));
  ASSERT_EQ(message.type, MessageType::kPlan);
  const auto got = body_of<WorkerPlan>(message);
  EXPECT_EQ(base::to_value(got), base::to_value(plan));
  EXPECT_EQ(got.plan.run_id, plan.plan.run_id);
  EXPECT_EQ(got.plan.ranks[2].cpus, (std::vector<int>{4, 5}));
  EXPECT_EQ(got.plan.measured_steps, 7);
}

TEST(Messages, CarryRecordsWithEveryBitOfTheirNumbers) {
  WorkerRecords records;
  records.step_ms = {0.1, 1.0 / 3, 5e-324, std::numeric_limits<double>::max(), 2.0};
  records.loss = {6.9, std::nullopt};
  records.phases.ms["forward"] = {1, 2};
  records.phases.reasons["h2d"] = "captured";
  records.loss_scale = Measured<double>::missing("fp32");
  records.gpu_memory_peak_bytes = (std::int64_t{1} << 53) + 1;
  const Message message = sent_and_received(encoded(MessageType::kRecords, records));
  const auto got = body_of<WorkerRecords>(message);
  EXPECT_EQ(got.step_ms, records.step_ms);
  EXPECT_EQ(got.loss, records.loss);
  EXPECT_EQ(got.phases.ms, records.phases.ms);
  EXPECT_EQ(got.loss_scale.reason, "fp32");
  EXPECT_EQ(*got.gpu_memory_peak_bytes, (std::int64_t{1} << 53) + 1);
}

TEST(Messages, WithoutABodyHaveAnEmptyOne) {
  const Message message = sent_and_received(encoded(MessageType::kDone, Nothing{}));
  EXPECT_EQ(message.type, MessageType::kDone);
  EXPECT_NO_THROW(body_of<Nothing>(message));
}

TEST(Messages, HaveANameEach) {
  for (int i = 0; i <= static_cast<int>(MessageType::kAbort); ++i) {
    const auto type = static_cast<MessageType>(i);
    EXPECT_EQ(sent_and_received(encoded(type, Nothing{})).type, type) << name_of(type);
  }
  EXPECT_EQ(name_of(MessageType::kHello), "hello");
  EXPECT_EQ(name_of(MessageType::kAbort), "abort");
}

TEST(Messages, ThatAreNoneAreRefusedInWords) {
  EXPECT_THAT(what_of([] { decode("{"); }), HasSubstr("control channel"));
  EXPECT_THAT(what_of([] { decode("[1]"); }), HasSubstr("without type and body"));
  EXPECT_THAT(what_of([] { decode(R"({"type": "hello"})"); }), HasSubstr("without type and body"));
  EXPECT_THAT(what_of([] { decode(R"({"type": "hallo", "body": {}})"); }),
              HasSubstr("unknown message type \"hallo\""));
  EXPECT_THAT(
      what_of([] { body_of<Hello>(decode(R"({"type": "hello", "body": {"protocol": "one"}})")); }),
      HasSubstr("protocol"));
}

TEST(Messages, OfAnotherVersionAreRefusedWithBothVersions) {
  EXPECT_NO_THROW(check_protocol(kProtocolVersion, "the worker"));
  const std::string text = what_of([] { check_protocol(99, "the worker"); });
  EXPECT_THAT(text, HasSubstr("the worker speaks version 99"));
  EXPECT_THAT(text, HasSubstr("version " + std::to_string(kProtocolVersion)));
}

}  // namespace
}  // namespace falcon::launch
