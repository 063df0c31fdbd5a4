#include "links/gpu_side.h"

#include <cerrno>
#include <cstring>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "links/cuda/link_kernels.h"
#include "links/cuda_call.h"

namespace falcon::links {
namespace {

// numaif.h, which needs libnuma: the node of the page at an address.
constexpr unsigned long kNodeOfAddress = 1UL | 2UL;  // MPOL_F_NODE | MPOL_F_ADDR

/// Runs this thread on some CPUs while it lives. A mask that is refused is none: memory then lies
/// where it lies, and GpuSide::memory() says where.
class OnCpus {
 public:
  explicit OnCpus(const std::vector<int>& cpus) {
    if (cpus.empty() || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) {
      if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
    }
    is_moved_ = sched_setaffinity(0, sizeof set, &set) == 0;
  }
  ~OnCpus() {
    if (is_moved_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OnCpus(const OnCpus&) = delete;
  OnCpus& operator=(const OnCpus&) = delete;

 private:
  cpu_set_t before_{};
  bool is_moved_ = false;
};

template <class T>
void allocate_device(T*& memory, std::size_t bytes) {
  void* place = nullptr;
  require(cudaMalloc(&place, bytes), "cudaMalloc");
  memory = static_cast<T*>(place);
}

void allocate_host(std::uint64_t*& memory, std::size_t bytes) {
  void* place = nullptr;
  require(cudaHostAlloc(&place, bytes, cudaHostAllocPortable), "cudaHostAlloc");
  memory = static_cast<std::uint64_t*>(place);
  std::memset(place, 0, bytes);
}

}  // namespace

GpuSide::GpuSide(int ordinal, std::int64_t bytes, const std::vector<int>& near_cpus)
    : ordinal_(ordinal) {
  use();
  require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  for (cudaEvent_t* event : {&begin, &end, &all_ended}) {
    require(cudaEventCreate(event), "cudaEventCreate");
  }
  allocate(bytes, near_cpus);
}

void GpuSide::allocate(std::int64_t bytes, const std::vector<int>& near_cpus) {
  const auto size = static_cast<std::size_t>(bytes);
  allocate_device(source_, size);
  allocate_device(target_, size);
  allocate_device(wrong_, sizeof *wrong_);
  const OnCpus near(near_cpus);
  allocate_host(host_source_, size);
  allocate_host(host_target_, size);
}

// The process ends soon after: what cannot be freed is given back then.
GpuSide::~GpuSide() {
  cudaSetDevice(ordinal_);
  cudaFreeHost(host_target_);
  cudaFreeHost(host_source_);
  cudaFree(wrong_);
  cudaFree(target_);
  cudaFree(source_);
  for (cudaEvent_t event : {begin, end, all_ended}) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void GpuSide::use() const {
  require(cudaSetDevice(ordinal_), "cudaSetDevice");
}

LinkMemory GpuSide::memory() const {
  int node = -1;
  if (syscall(SYS_get_mempolicy, &node, nullptr, 0UL, host_source_, kNodeOfAddress) != 0) {
    return {Measured<int>::missing(std::string("get_mempolicy: ") + std::strerror(errno))};
  }
  return {node};
}

bool GpuSide::has_arrived(std::int64_t words, std::uint64_t seed) const {
  use();
  unsigned long long wrong = 0;
  require(cudaMemsetAsync(wrong_, 0, sizeof wrong, stream_), "cudaMemsetAsync");
  cuda::count_wrong(target_, words, seed, wrong_, stream_);
  require(cudaGetLastError(), "the kernel that checks contents");
  require(cudaMemcpyAsync(&wrong, wrong_, sizeof wrong, cudaMemcpyDeviceToHost, stream_),
          "cudaMemcpyAsync");
  require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  return wrong == 0;
}

}  // namespace falcon::links
