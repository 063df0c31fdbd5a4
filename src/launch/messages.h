// What launcher and worker say to each other over a worker's control channel: one JSON document a
// frame, {"type": ..., "body": {...}}.
//
//   worker -> launcher   hello, phase, alive, measuring_began, measuring_ended, records, failure,
//                        done
//   launcher -> worker   plan (first), stop (finish at a step that all ranks agree on), abort
//
// A process that another program started, and the launcher of its host (launch/local_door.h):
//
//   process -> launcher  join
//   launcher -> process  accept (it becomes a worker), refuse
//
// Launchers of one run on several hosts (launch/host_messages.h):
//
//   host -> head         host_hello, host_alive, host_offer, host_started, host_word, host_line,
//                        host_ended, host_signal, pong, host_sight, refuse
//   head -> host         accept (let in), host_alive, host_plan, host_word, host_signal, ping,
//                        host_finish, host_result, refuse
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/codec.h"
#include "base/value.h"
#include "falconbench/errors.h"
#include "falconbench/fields.h"
#include "falconbench/plan.h"
#include "falconbench/records.h"

namespace falcon::launch {

/// Raised with every change of a message that another version would misread.
inline constexpr int kProtocolVersion = 4;

enum class MessageType {
  kHello,
  kPhase,
  kAlive,
  kMeasuringBegan,
  kMeasuringEnded,
  kRecords,
  kFailure,
  kDone,
  kPlan,
  kStop,
  kAbort,
  kJoin,
  kAccept,
  kRefuse,
  kHostHello,
  kHostAlive,
  kHostOffer,
  kHostPlan,
  kHostStarted,
  kHostWord,
  kHostLine,
  kHostEnded,
  kHostSignal,
  kHostFinish,
  kHostSight,
  kHostResult,
  kPing,
  kPong,
};
std::string_view name_of(MessageType type);

/// The first message of a worker.
struct Hello {
  int protocol = 0;
  std::int64_t pid = 0;
  std::string hostname;
};
template <class V>
void visit_fields(Hello& h, V& v) {
  v.field("protocol", h.protocol, "kProtocolVersion of the worker");
  v.field("pid", h.pid, "its process id");
  v.field("hostname", h.hostname, "its host");
}

/// A new phase (phase), or a sign of life every second (alive). step is the last completed one.
struct Progress {
  std::string phase;
  std::int64_t step = 0;
  double time_s = 0;
  std::int64_t work = 0;
};
template <class V>
void visit_fields(Progress& p, V& v) {
  v.field("phase", p.phase, "what the worker is doing");
  v.field("step", p.step, "last completed step, warm-up included");
  v.field("time_s", p.time_s, "steady clock");
  v.field("work", p.work, "rises with whatever gets done between steps");
}

/// measuring_began, measuring_ended.
struct Moment {
  double time_s = 0;
};
template <class V>
void visit_fields(Moment& m, V& v) {
  v.field("time_s", m.time_s, "steady clock");
}

struct FailureMessage {
  RunFailure failure;
  int exit_code = static_cast<int>(ExitCode::kWorker);
  double time_s = 0;
};
template <class V>
void visit_fields(FailureMessage& f, V& v) {
  v.field("failure", f.failure, "what happened");
  v.field("exit_code", f.exit_code, "what the program should end with");
  v.field("time_s", f.time_s, "steady clock");
}

/// stop, abort.
struct Order {
  std::string reason;
};
template <class V>
void visit_fields(Order& o, V& v) {
  v.field("reason", o.reason, "why");
}

/// done has no body.
struct Nothing {};
template <class V>
void visit_fields(Nothing&, V&) {}

struct Message {
  MessageType type = MessageType::kAlive;
  base::Value body;
};

/// refuse: a launcher says that nothing will come of the run.
struct Refusal {
  int exit_code = static_cast<int>(ExitCode::kHost);
  std::string message;
};
template <class V>
void visit_fields(Refusal& r, V& v) {
  v.field("exit_code", r.exit_code, "what to end with");
  v.field("message", r.message, "why");
}

/// One frame. Throws Error(kInternal) when the body holds what JSON cannot (NaN, invalid UTF-8).
std::string encode(MessageType type, base::Value body);
/// Throws Error(kWorker) when the payload is no message of this program.
Message decode(std::string_view payload);
/// The type of that name. Throws Error(kWorker) for one that is none.
MessageType type_named(std::string_view name);

template <class T>
std::string encoded(MessageType type, const T& body) {
  base::Value value = base::to_value(body);
  return encode(type, value.is_object() ? std::move(value) : base::Value::object());
}
/// Throws Error(kWorker) naming the message and the field that is wrong.
template <class T>
T body_of(const Message& message) {
  return base::from_value<T>(message.body, ExitCode::kWorker);
}

/// Throws Error(kWorker) when `theirs` is not kProtocolVersion.
void check_protocol(int theirs, std::string_view who);

}  // namespace falcon::launch
