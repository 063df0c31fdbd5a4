#include "comm/ranks.h"

#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <unistd.h>

#include "launch/crew.h"

namespace falcon::test {

namespace {

at::Device take_device(comm::Backend backend, int rank) {
  if (backend == comm::Backend::kGloo) return at::kCPU;
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(rank));
  c10::cuda::set_device(device.index());
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(false, device.index()));
  return device;
}

/// c10d's recorder is one for the process and not made for several ranks in it. It is read once, so
/// before the first group.
const int kNoFlightRecorder = ::setenv("TORCH_FR_BUFFER_SIZE", "0", /*overwrite=*/1);

}  // namespace

void run_ranks(int world, const std::function<void(comm::ProcessGroup& group)>& function,
               comm::Backend backend) {
  const launch::MeetingPoint place = launch::local_meeting_point();
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(world));
  const auto run_rank = [&](int rank) {
    comm::Rendezvous meeting;
    meeting.rank = rank;
    meeting.world = world;
    meeting.host = place.host;
    meeting.port = place.port;
    meeting.timeout_s = 30;
    if (rank == 0) meeting.listen_fd = ::dup(place.listener.socket.get());  // the group closes it
    comm::ProcessGroup group(backend, meeting, take_device(backend, rank));
    function(group);
    group.shutdown();
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        run_rank(rank);
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
