#include "links/gpu_copies.h"

#include <algorithm>

#include "links/cuda/link_kernels.h"
#include "links/cuda_call.h"
#include "links/host_pattern.h"
#include "links/load_ring.h"
#include "links/windows.h"

namespace falcon::links {
namespace {

constexpr std::int64_t kMostRepeats = 100;  // of all flows less than a stream's queue takes
constexpr std::int64_t kGateLimitNs = 400'000'000;

bool is_by_kernel(const std::string& method) {
  return method == "kernel_write" || method == "kernel_read";
}

bool is_pull(const std::string& method) {
  return method == "read" || method == "kernel_read";
}

std::int64_t largest_size(const LinkWork& work) {
  std::int64_t bytes = kLoadRingBytes;
  for (const CopyTask& task : work.copies) {
    for (const std::int64_t size : task.sizes_bytes) bytes = std::max(bytes, size);
  }
  return bytes;
}

double seconds_between(cudaEvent_t begin, cudaEvent_t end) {
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace

GpuCopies::GpuCopies(const std::vector<int>& ordinals, const LinkWork& work) : work_(work) {
  const std::int64_t bytes = largest_size(work);
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    sides_.push_back(std::make_unique<GpuSide>(
        ordinals[i], bytes, i < work.near_cpus.size() ? work.near_cpus[i] : std::vector<int>()));
  }
  has_access_.assign(ordinals.size(), std::vector<char>(ordinals.size(), 0));
  const int count = static_cast<int>(ordinals.size());
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      int forth = 0;
      int back = 0;
      if (a == b) continue;
      require(cudaDeviceCanAccessPeer(&forth, side(a).ordinal(), side(b).ordinal()),
              "cudaDeviceCanAccessPeer");
      require(cudaDeviceCanAccessPeer(&back, side(b).ordinal(), side(a).ordinal()),
              "cudaDeviceCanAccessPeer");
      if (forth != 0 && back != 0) peers_.push_back({a, b});
    }
  }
  void* gate = nullptr;
  require(cudaHostAlloc(&gate, 2 * sizeof *gate_, cudaHostAllocPortable | cudaHostAllocMapped),
          "cudaHostAlloc");
  gate_ = static_cast<volatile int*>(gate);
}

GpuCopies::~GpuCopies() {
  cudaFreeHost(const_cast<int*>(gate_));
}

std::vector<LinkMemory> GpuCopies::memory() const {
  std::vector<LinkMemory> all;
  for (const auto& gpu : sides_) all.push_back(gpu->memory());
  return all;
}

GpuCopies::Ends GpuCopies::ends_of(const LinkFlow& flow, const std::string& method) const {
  Ends ends;
  ends.source_device = flow.source;
  ends.target_device = flow.target;
  if (flow.source == kHostMemory) {
    ends.source = side(flow.target).host_source();
    ends.target = side(flow.target).target();
    ends.issuer = flow.target;
  } else if (flow.target == kHostMemory) {
    ends.source = side(flow.source).source();
    ends.target = side(flow.source).host_target();
    ends.issuer = flow.source;
  } else {
    ends.source = side(flow.source).source();
    ends.target = side(flow.target).target();
    ends.issuer = is_pull(method) ? flow.target : flow.source;
  }
  return ends;
}

void GpuCopies::set_peer_access(const CopyTask& task) {
  for (const LinkFlow& flow : task.flows) {
    if (flow.source == kHostMemory || flow.target == kHostMemory) continue;
    const bool is_possible =
        std::any_of(peers_.begin(), peers_.end(), [&flow](const LinkFlow& pair) {
          return pair.source == flow.source && pair.target == flow.target;
        });
    if (task.peer_to_peer && !is_possible) {
      throw Error(ExitCode::kWorker, "CUDA says that these GPUs cannot reach each other's memory");
    }
    set_peer_access(flow.source, flow.target, task.peer_to_peer);
    set_peer_access(flow.target, flow.source, task.peer_to_peer);
  }
}

void GpuCopies::set_peer_access(int from, int to, bool wanted) {
  char& has = has_access_.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
  if ((has != 0) == wanted) return;
  side(from).use();
  const int peer = side(to).ordinal();
  if (wanted) {
    require(cudaDeviceEnablePeerAccess(peer, 0), "cudaDeviceEnablePeerAccess");
  } else {
    require(cudaDeviceDisablePeerAccess(peer), "cudaDeviceDisablePeerAccess");
  }
  has = wanted ? 1 : 0;
}

/// The source gets the pattern, the target one that differs in every word.
void GpuCopies::prepare(const std::vector<Ends>& flows, std::int64_t bytes,
                        std::uint64_t seed) const {
  const std::int64_t words = bytes / 8;
  const auto fill = [&](std::uint64_t* memory, int device, std::uint64_t with) {
    if (device == kHostMemory) return fill_words(memory, words, with);
    side(device).use();
    cuda::fill_pattern(memory, words, with, side(device).stream());
    require(cudaGetLastError(), "the kernel that fills memory");
  };
  for (const Ends& ends : flows) {
    fill(ends.source, ends.source_device, seed);
    fill(ends.target, ends.target_device, ~seed);
  }
  for (const auto& gpu : sides_) {
    gpu->use();
    require(cudaStreamSynchronize(gpu->stream()), "cudaStreamSynchronize");
  }
}

bool GpuCopies::have_arrived(const std::vector<Ends>& flows, std::int64_t bytes,
                             std::uint64_t seed) const {
  return std::all_of(flows.begin(), flows.end(), [&](const Ends& ends) {
    return ends.target_device == kHostMemory
               ? are_words(ends.target, bytes / 8, seed)
               : side(ends.target_device).has_arrived(bytes / 8, seed);
  });
}

void GpuCopies::enqueue(const Ends& ends, const std::string& method, std::int64_t bytes) const {
  const GpuSide& issuer = side(ends.issuer);
  const auto size = static_cast<std::size_t>(bytes);
  issuer.use();
  if (ends.source_device == kHostMemory || ends.target_device == kHostMemory) {
    require(cudaMemcpyAsync(ends.target, ends.source, size, cudaMemcpyDefault, issuer.stream()),
            "cudaMemcpyAsync");
  } else if (is_by_kernel(method)) {
    cuda::copy_by_kernel(ends.target, ends.source, bytes, issuer.stream());
    require(cudaGetLastError(), "the kernel that copies");
  } else {
    require(cudaMemcpyPeerAsync(ends.target, side(ends.target_device).ordinal(), ends.source,
                                side(ends.source_device).ordinal(), size, issuer.stream()),
            "cudaMemcpyPeerAsync");
  }
}

/// All flows begin when the first one's stream passes the gate, which opens once everything is
/// enqueued: launches are then no part of the time.
GpuCopies::Times GpuCopies::run_window(const std::vector<Ends>& flows, const std::string& method,
                                       std::int64_t bytes, std::int64_t repeats, bool gated) const {
  const GpuSide& first = side(flows.front().issuer);
  gate_[0] = 0;
  gate_[1] = 0;
  first.use();
  if (gated) cuda::wait_for_gate(&gate_[0], &gate_[1], kGateLimitNs, first.stream());
  require(cudaGetLastError(), "the kernel that holds the streams");
  require(cudaEventRecord(first.begin, first.stream()), "cudaEventRecord");
  for (std::size_t i = 1; i < flows.size(); ++i) {
    const GpuSide& other = side(flows[i].issuer);
    other.use();
    require(cudaStreamWaitEvent(other.stream(), first.begin, 0), "cudaStreamWaitEvent");
    require(cudaEventRecord(other.begin, other.stream()), "cudaEventRecord");
  }
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
    for (const Ends& ends : flows) enqueue(ends, method, bytes);
  }
  for (const Ends& ends : flows) {
    const GpuSide& issuer = side(ends.issuer);
    issuer.use();
    require(cudaEventRecord(issuer.end, issuer.stream()), "cudaEventRecord");
    first.use();
    if (&issuer != &first) {
      require(cudaStreamWaitEvent(first.stream(), issuer.end, 0), "cudaStreamWaitEvent");
    }
  }
  require(cudaEventRecord(first.all_ended, first.stream()), "cudaEventRecord");
  gate_[0] = 1;
  require(cudaStreamSynchronize(first.stream()), "cudaStreamSynchronize");
  Times times;
  times.is_late = gated && gate_[1] != 0;
  times.all_s = seconds_between(first.begin, first.all_ended);
  for (const Ends& ends : flows) {
    times.flow_s.push_back(seconds_between(side(ends.issuer).begin, side(ends.issuer).end));
  }
  return times;
}

LinkWindows GpuCopies::measure_size(const CopyTask& task, const std::vector<Ends>& flows,
                                    std::int64_t bytes) {
  LinkWindows windows;
  windows.size_bytes = bytes;
  windows.contents_match = true;
  windows.flow_seconds.resize(flows.size());
  // a staged copy may need the host while it runs, so nothing may be held back there
  bool gated = task.peer_to_peer || flows.front().source_device == kHostMemory ||
               flows.front().target_device == kHostMemory;
  prepare(flows, bytes, seed_);
  run_window(flows, task.method, bytes, 1, false);  // first use
  const Times trial = run_window(flows, task.method, bytes, kTrialRepeats, gated);
  if (trial.is_late) gated = false;
  windows.repeats =
      repeats_for(trial.all_s / static_cast<double>(kTrialRepeats), work_.window_s, kMostRepeats);
  while (static_cast<std::int64_t>(windows.seconds.size()) < work_.windows) {
    ++seed_;
    prepare(flows, bytes, seed_);
    const Times times = run_window(flows, task.method, bytes, windows.repeats, gated);
    windows.contents_match = windows.contents_match && have_arrived(flows, bytes, seed_);
    if (times.is_late) {  // time without the gate from here on
      gated = false;
      continue;
    }
    windows.seconds.push_back(times.all_s);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      windows.flow_seconds[i].push_back(times.flow_s[i]);
    }
  }
  return windows;
}

/// A thread of the target GPU follows a ring of places in the source's memory.
LinkWindows GpuCopies::measure_loads(const CopyTask& task) {
  const GpuSide& source = side(task.flows.front().source);
  const GpuSide& target = side(task.flows.front().target);
  const std::vector<std::uint64_t> ring = make_load_ring();
  source.use();
  require(cudaMemcpy(source.source(), ring.data(), kLoadRingBytes, cudaMemcpyHostToDevice),
          "cudaMemcpy");
  LinkWindows windows;
  windows.size_bytes = sizeof(std::uint64_t);
  windows.repeats = kLoadHops;
  windows.contents_match = true;
  windows.flow_seconds.resize(1);
  const std::uint64_t expected = end_of_walk(ring, kLoadHops);
  target.use();
  for (std::int64_t window = -1; window < work_.windows; ++window) {  // the first fills the TLBs
    require(cudaEventRecord(target.begin, target.stream()), "cudaEventRecord");
    cuda::follow(source.source(), kLoadHops, target.target(), target.stream());
    require(cudaGetLastError(), "the kernel that loads");
    require(cudaEventRecord(target.end, target.stream()), "cudaEventRecord");
    std::uint64_t last = 0;
    require(cudaMemcpyAsync(&last, target.target(), sizeof last, cudaMemcpyDeviceToHost,
                            target.stream()),
            "cudaMemcpyAsync");
    require(cudaStreamSynchronize(target.stream()), "cudaStreamSynchronize");
    windows.contents_match = windows.contents_match && last == expected;
    if (window < 0) continue;
    windows.seconds.push_back(seconds_between(target.begin, target.end));
    windows.flow_seconds.front().push_back(windows.seconds.back());
  }
  return windows;
}

LinkResult GpuCopies::measure(const CopyTask& task, const std::function<void()>& on_size) {
  set_peer_access(task);
  LinkResult result;
  if (task.method == "load") {
    result.by_size.push_back(measure_loads(task));
    on_size();
    return result;
  }
  std::vector<Ends> flows;
  for (const LinkFlow& flow : task.flows) flows.push_back(ends_of(flow, task.method));
  for (const std::int64_t bytes : task.sizes_bytes) {
    result.by_size.push_back(measure_size(task, flows, bytes));
    on_size();
  }
  return result;
}

}  // namespace falcon::links
