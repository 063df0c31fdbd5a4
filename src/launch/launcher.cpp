#include "launch/launcher.h"

#include <optional>
#include <utility>

#include "launch/crew.h"
#include "launch/host_messages.h"
#include "launch/outpost.h"
#include "launch/signals.h"
#include "launch/supervisor.h"

namespace falcon::launch {

RunLog run(const Plan& plan, const LaunchOptions& options) {
  if (plan.ranks.empty()) throw Error(ExitCode::kInternal, "a plan without ranks");
  // before the first worker: none is left behind by an early Ctrl-C
  std::optional<SignalWatch> own;
  SignalWatch& signals = options.signals != nullptr ? *options.signals : own.emplace();
  MeetingPoint meeting =
      options.crew != nullptr ? options.crew->make_meeting_point() : local_meeting_point();
  if (options.crew != nullptr) {
    const bool is_served_here = meeting.listener.socket.is_open();
    const HostPlan told{plan, meeting.address, is_served_here ? meeting.port : 0,
                        options.watchdog_s};
    for (const auto& host : options.crew->hosts()) host->link().say(MessageType::kHostPlan, told);
  }
  Supervisor supervisor(plan, options, std::move(meeting), signals);
  supervisor.start();
  supervisor.supervise();
  return supervisor.take_log();
}

ExitCode serve(const Plan& plan, const LaunchOptions& options, MeetingPoint meeting,
               const std::function<HostSight()>& sight, std::string& message) {
  std::optional<SignalWatch> own;
  SignalWatch& signals = options.signals != nullptr ? *options.signals : own.emplace();
  Outpost outpost(plan, options, std::move(meeting), signals);
  return outpost.serve(sight, message);
}

}  // namespace falcon::launch
