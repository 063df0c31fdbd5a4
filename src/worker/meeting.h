// Where the ranks of a run meet.
#pragma once
#include <falconbench/plan.h>

#include "comm/process_group.h"

namespace falcon::worker {

/// listen_fd: the bound socket on the rank that serves the store, else -1.
inline comm::Rendezvous meeting_of(const WorkerPlan& told, int listen_fd) {
  comm::Rendezvous meeting;
  meeting.rank = told.rank;
  meeting.world = static_cast<int>(told.plan.ranks.size());
  meeting.host = told.store_host;
  meeting.port = told.store_port;
  meeting.listen_fd = listen_fd;
  meeting.prefix = "falconbench/" + told.plan.run_id;
  meeting.address = told.address;
  meeting.timeout_s = told.watchdog_s;
  return meeting;
}

}  // namespace falcon::worker
