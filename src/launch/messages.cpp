#include "launch/messages.h"

#include <array>

#include "base/json.h"
#include "base/text.h"
#include "launch/frames.h"

namespace falcon::launch {
namespace {

// In the order of MessageType.
constexpr auto kNames = std::to_array<std::string_view>({"hello",
                                                         "phase",
                                                         "alive",
                                                         "measuring_began",
                                                         "measuring_ended",
                                                         "records",
                                                         "failure",
                                                         "done",
                                                         "plan",
                                                         "stop",
                                                         "abort",
                                                         "join",
                                                         "accept",
                                                         "refuse",
                                                         "host_hello",
                                                         "host_alive",
                                                         "host_offer",
                                                         "host_plan",
                                                         "host_started",
                                                         "host_word",
                                                         "host_line",
                                                         "host_ended",
                                                         "host_signal",
                                                         "host_finish",
                                                         "host_sight",
                                                         "host_result",
                                                         "ping",
                                                         "pong"});
static_assert(kNames.size() == static_cast<std::size_t>(MessageType::kPong) + 1);

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ExitCode::kWorker, "control channel: " + what);
}

base::Value parsed(std::string_view payload) {
  try {
    return base::parse_json(payload, "message");
  } catch (const InputError& error) {  // ours to explain, not the user's input
    refuse(error.what());
  }
}

}  // namespace

std::string_view name_of(MessageType type) {
  return kNames.at(static_cast<std::size_t>(type));
}

std::string encode(MessageType type, base::Value body) {
  base::Value envelope = base::Value::object();
  envelope.set("type", base::Value(name_of(type)));
  envelope.set("body", std::move(body));
  return framed(base::to_json(envelope));
}

Message decode(std::string_view payload) {
  base::Value envelope = parsed(payload);
  const base::Value* type = envelope.find("type");
  base::Value* body = envelope.find("body");
  if (type == nullptr || !type->is_text() || body == nullptr) {
    refuse("a message without type and body: " + base::printable(payload));
  }
  return {type_named(type->as_text()), std::move(*body)};
}

MessageType type_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<MessageType>(i);
  }
  refuse("unknown message type \"" + base::printable(name) + "\"");
}

void check_protocol(int theirs, std::string_view who) {
  if (theirs == kProtocolVersion) return;
  throw Error(ExitCode::kWorker, std::string(who) + " speaks version " + std::to_string(theirs) +
                                     " of the control protocol, this side version " +
                                     std::to_string(kProtocolVersion) +
                                     ": launcher and worker must be of the same build");
}

}  // namespace falcon::launch
