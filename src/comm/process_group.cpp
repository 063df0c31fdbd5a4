#include "comm/process_group.h"

#include <chrono>
#include <cstdlib>
#include <thread>

#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <falconbench/errors.h>

#include "base/text.h"
#include "comm/c10d_group.h"
#include "comm/library_versions.h"

namespace falcon::comm {
namespace {

static_assert(NCCL_VERSION_CODE == FALCONBENCH_NCCL_VERSION_CODE,
              "nccl.h is not the one of the pinned wheel, which LibTorch was built with");

constexpr std::size_t kBroadcastBytes = std::size_t{250} << 20;  // as DistributedDataParallel

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3));
}

c10::intrusive_ptr<c10d::Store> part_of(const c10::intrusive_ptr<c10d::Store>& store,
                                        const std::string& name) {
  return c10::make_intrusive<c10d::PrefixStore>(name, store);
}

bool serves(const Rendezvous& meeting) {
  return meeting.rank == 0 && meeting.listen_fd >= 0;
}

c10::intrusive_ptr<c10d::Store> open_store(const Rendezvous& meeting) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(meeting.port);
  options.isServer = serves(meeting);
  options.numWorkers = static_cast<std::size_t>(meeting.world);
  options.timeout = milliseconds(meeting.timeout_s);
  if (serves(meeting)) options.masterListenFd = meeting.listen_fd;
  const auto store = c10::make_intrusive<c10d::TCPStore>(meeting.host, options);
  return meeting.prefix.empty() ? c10::intrusive_ptr<c10d::Store>(store)
                                : part_of(store, meeting.prefix);
}

/// The interfaces that the user chose, else the one of the address that leads to the other ranks;
/// without a device named here Gloo takes what the host name resolves to, which need not be
/// reachable.
void add_devices(const Rendezvous& meeting, c10d::ProcessGroupGloo::Options& options) {
  const char* chosen = std::getenv("GLOO_SOCKET_IFNAME");
  if (chosen == nullptr || *chosen == '\0') {
    const std::string& address = meeting.address.empty() ? meeting.host : meeting.address;
    options.devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname(address, /*lazyInit=*/false));
    return;
  }
  for (const std::string& name : base::split(chosen, ',')) {
    options.devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForInterface(name, /*lazyInit=*/false));
  }
}

void add_gloo(ProcessGroup::Impl& impl) {
  auto options = c10d::ProcessGroupGloo::Options::create(milliseconds(impl.meeting.timeout_s));
  add_devices(impl.meeting, *options);
  options->threads = 2;
  auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(
      part_of(impl.store, "gloo"), impl.meeting.rank, impl.meeting.world, options);
  impl.group->setBackend(at::kCPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
  impl.group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
}

void add_nccl(ProcessGroup::Impl& impl) {
  require_built_nccl();
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = milliseconds(impl.meeting.timeout_s);
  auto nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(
      part_of(impl.store, "nccl"), impl.meeting.rank, impl.meeting.world, options);
  impl.group->setBackend(at::kCUDA, c10d::ProcessGroup::BackendType::NCCL, nccl);
  impl.group->setDefaultBackend(c10d::ProcessGroup::BackendType::NCCL);
  nccl->setBoundDeviceId(impl.device);
  nccl->eagerConnectSingleDevice(impl.device);
}

/// Gloo has no average.
bool must_divide(const ProcessGroup::Impl& impl, Reduction reduction) {
  return reduction == Reduction::kAverage && impl.backend == Backend::kGloo;
}

c10d::ReduceOp operation_of(const ProcessGroup::Impl& impl, Reduction reduction) {
  if (reduction == Reduction::kMaximum) return c10d::ReduceOp::MAX;
  if (reduction == Reduction::kSum || must_divide(impl, reduction)) return c10d::ReduceOp::SUM;
  return c10d::ReduceOp::AVG;
}

/// A rank that serves the store must not go while another rank still talks to it.
void leave_store(ProcessGroup::Impl& impl) {
  constexpr std::chrono::milliseconds kPoll{2};
  const std::int64_t others = impl.meeting.world - 1;
  if (!serves(impl.meeting)) {
    impl.store->add("left", 1);
    return;
  }
  auto waited = std::chrono::milliseconds(0);
  while (impl.store->add("left", 0) < others && waited < milliseconds(impl.meeting.timeout_s)) {
    std::this_thread::sleep_for(kPoll);
    waited += kPoll;
  }
}

}  // namespace

ProcessGroup::ProcessGroup(Backend backend, const Rendezvous& meeting, at::Device device)
    : impl_(std::make_unique<Impl>()) {
  impl_->meeting = meeting;
  impl_->backend = backend;
  impl_->device = device;
  impl_->store = open_store(meeting);
  impl_->group = c10::make_intrusive<c10d::ProcessGroup>(part_of(impl_->store, "group"),
                                                         meeting.rank, meeting.world);
  backend == Backend::kNccl ? add_nccl(*impl_) : add_gloo(*impl_);
  impl_->group->setGroupName("default");
}

ProcessGroup::~ProcessGroup() = default;

int ProcessGroup::rank() const {
  return impl_->meeting.rank;
}
int ProcessGroup::world() const {
  return impl_->meeting.world;
}
Backend ProcessGroup::backend() const {
  return impl_->backend;
}
at::Device ProcessGroup::device() const {
  return impl_->device;
}

void ProcessGroup::broadcast(at::Tensor tensor, int root) {
  std::vector<at::Tensor> tensors{std::move(tensor)};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  impl_->group->broadcast(tensors, options)->wait();
}

void ProcessGroup::all_reduce(at::Tensor tensor, Reduction reduction) {
  if (must_divide(*impl_, reduction)) tensor.div_(world());
  c10d::AllreduceOptions options;
  options.reduceOp = operation_of(*impl_, reduction);
  std::vector<at::Tensor> tensors{std::move(tensor)};
  impl_->group->allreduce(tensors, options)->wait();
}

void ProcessGroup::all_gather(at::Tensor whole, at::Tensor part) {
  impl_->group->_allgather_base(whole, part)->wait();
}

void ProcessGroup::reduce_scatter(at::Tensor part, at::Tensor whole, Reduction reduction) {
  c10d::ReduceScatterOptions options;
  options.reduceOp = operation_of(*impl_, reduction);
  impl_->group->_reduce_scatter_base(part, whole, options)->wait();
  if (must_divide(*impl_, reduction)) part.div_(world());
}

void ProcessGroup::broadcast_all(const std::vector<at::Tensor>& tensors, int root) {
  c10d::broadcast_coalesced(impl_->group, tensors, kBroadcastBytes, root);
}

void ProcessGroup::check_same_layout(const std::vector<at::Tensor>& tensors) {
  c10d::verify_params_across_processes(impl_->group, tensors, std::nullopt);
}

void ProcessGroup::barrier() {
  c10d::BarrierOptions options;
  if (impl_->backend == Backend::kNccl) options.device = impl_->device;
  // c10d::ProcessGroup's own barrier() keeps a tensor in a static variable: several groups in one
  // process, as in tests, would free it twice
  impl_->group->getDefaultBackend()->barrier(options)->wait();
}

void ProcessGroup::set(const std::string& key, const std::string& value) {
  impl_->store->set("falcon/" + key, std::vector<std::uint8_t>(value.begin(), value.end()));
}

std::string ProcessGroup::get(const std::string& key) {
  const std::vector<std::uint8_t> value = impl_->store->get("falcon/" + key);
  return {value.begin(), value.end()};
}

// A barrier alone would end with an error after timeout_s.
void ProcessGroup::wait_for_root(const std::string& purpose, const std::function<void()>& on_wait) {
  constexpr std::chrono::milliseconds kPoll{2};
  constexpr int kPollsToCall = 500;
  const std::string key = "root/" + purpose;
  if (rank() == 0) {
    set(key, "");
  } else {
    for (int polls = 1; !impl_->store->check({"falcon/" + key}); ++polls) {
      std::this_thread::sleep_for(kPoll);
      if (polls % kPollsToCall == 0 && on_wait) on_wait();
    }
  }
  barrier();
  if (impl_->backend == Backend::kNccl) c10::cuda::device_synchronize();
  if (rank() == 0) remove(key);
  barrier();  // before the key may be set again
}

void ProcessGroup::remove(const std::string& key) {
  impl_->store->deleteKey("falcon/" + key);
}

void ProcessGroup::shutdown() {
  if (impl_->backend == Backend::kNccl) c10::cuda::device_synchronize();
  barrier();
  impl_->group->shutdown();
  impl_->group.reset();
  leave_store(*impl_);
  impl_->store.reset();
}

}  // namespace falcon::comm
