#include "worker/link_session.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <unistd.h>

#include <falconbench/clock.h>

#include "comm/nccl_log.h"
#include "comm/process_group.h"
#include "links/collectives.h"
#include "links/gpu_copies.h"
#include "links/host_copies.h"
#include "worker/device.h"
#include "worker/meeting.h"
#include "worker/reporting.h"
#include "worker/settings.h"

namespace falcon::worker {
namespace {

bool is_on_host(const CopyTask& task) {
  const LinkFlow& flow = task.flows.front();
  return flow.source == kHostMemory && flow.target == kHostMemory;
}

class LinkSession {
 public:
  LinkSession(launch::WorkerChannel& channel, int listen_fd)
      : channel_(channel),
        told_(channel.plan()),
        work_(*told_.links),
        rank_(told_.plan.ranks.at(static_cast<std::size_t>(told_.rank))),
        listen_fd_(listen_fd) {}

  void run();

 private:
  void find_devices();
  void connect();
  void measure_copies();
  void measure_collectives();
  void send();
  std::function<void()> counter() {
    return [this] { channel_.set_step(++sizes_done_); };
  }

  launch::WorkerChannel& channel_;
  const WorkerPlan& told_;
  const LinkWork& work_;
  const RankPlan& rank_;
  int listen_fd_;
  double started_s_ = steady_now_s();
  std::int64_t sizes_done_ = 0;
  std::vector<int> ordinals_;  // of GPUs
  std::unique_ptr<links::GpuCopies> copies_;
  std::optional<comm::NcclLog> nccl_log_;
  std::unique_ptr<comm::ProcessGroup> group_;
  LinkRecords found_;
};

void LinkSession::run() {
  channel_.set_phase("connect");
  find_devices();
  if (!work_.collectives.empty()) connect();
  if (!work_.copies.empty() && !ordinals_.empty()) {
    copies_ = std::make_unique<links::GpuCopies>(ordinals_, work_);
  }
  channel_.set_phase("measure");
  measure_copies();
  measure_collectives();
  channel_.set_phase("finish");
  send();
  channel_.set_phase("tear_down");
  if (group_ != nullptr) group_->shutdown();
  group_.reset();
  copies_.reset();
  channel_.done();
}

void LinkSession::find_devices() {
  for (const DevicePlan& device : rank_.devices) {
    if (device.kind == "cuda") ordinals_.push_back(find_device(device));
  }
}

void LinkSession::connect() {
  bind_to_cpus(rank_);
  at::Device device = at::kCPU;
  if (!ordinals_.empty()) {
    device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(ordinals_.front()));
    c10::cuda::set_device(device.index());
    c10::cuda::setCurrentCUDAStream(
        c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index()));
  }
  nccl_log_.emplace(told_.plan.nccl);
  const auto backend = device.is_cuda() ? comm::Backend::kNccl : comm::Backend::kGloo;
  group_ = std::make_unique<comm::ProcessGroup>(backend, meeting_of(told_, listen_fd_), device);
}

/// One that fails does not take the others with it.
void LinkSession::measure_copies() {
  std::int64_t sizes = 0;
  for (const CopyTask& task : work_.copies) {
    LinkResult result;
    try {
      result = is_on_host(task) ? links::measure_host_copies(task, work_, counter())
                                : copies_->measure(task, counter());
    } catch (const Error& error) {
      result.error = error.what();
    }
    found_.copies.push_back(std::move(result));
    sizes += static_cast<std::int64_t>(task.sizes_bytes.size());
    sizes_done_ = sizes;  // also of one that failed
    channel_.set_step(sizes_done_);
  }
  if (copies_ == nullptr) return;
  found_.peers = copies_->peers();
  found_.memory = copies_->memory();
}

void LinkSession::measure_collectives() {
  for (const CollectiveTask& task : work_.collectives) {
    found_.collectives.push_back(links::measure_collective(*group_, task, work_, counter()));
  }
  if (group_ != nullptr) found_.data_type = links::collective_data_type(*group_);
}

void LinkSession::send() {
  WorkerRecords records;
  records.rank = told_.rank;
  records.pid = ::getpid();
  records.started_s = started_s_;
  records.finished_s = steady_now_s();
  for (const int ordinal : ordinals_) records.devices.push_back(describe_device(ordinal));
  records.transports = group_ != nullptr && !ordinals_.empty()
                           ? nccl_log_->transports()
                           : Measured<std::vector<Transport>>::missing("nothing went through NCCL");
  records.links = std::move(found_);
  channel_.send_records(records);
}

}  // namespace

ExitCode run_link_session(launch::WorkerChannel& channel, int listen_fd) {
  std::unique_ptr<LinkSession> session;  // outlives the handlers, as in run_session()
  return report_failures(channel, [&] {
    session = std::make_unique<LinkSession>(channel, listen_fd);
    session->run();
  });
}

}  // namespace falcon::worker
