#include "comm/ranks.h"

#include <exception>
#include <thread>
#include <vector>

#include <unistd.h>

#include "launch/descriptor.h"

namespace falcon::test {

void run_ranks(int world, const std::function<void(comm::ProcessGroup& group)>& function) {
  const launch::Rendezvous place = launch::listen_on_loopback();
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(world));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        comm::Rendezvous meeting;
        meeting.rank = rank;
        meeting.world = world;
        meeting.host = place.host;
        meeting.port = place.port;
        meeting.timeout_s = 30;
        if (rank == 0) meeting.listen_fd = ::dup(place.socket.get());  // the group closes it
        comm::ProcessGroup group(comm::Backend::kGloo, meeting, at::kCPU);
        function(group);
        group.shutdown();
      } catch (const std::exception&) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace falcon::test
