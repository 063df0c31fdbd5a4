// One rank's membership in the group of all ranks: collectives over NCCL (GPU tensors) or Gloo (CPU
// tensors), and the key-value store that the group met through. Nothing outside src/comm sees c10d.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace falcon::comm {

enum class Backend { kNccl, kGloo };
enum class Reduction { kSum, kAverage, kMaximum };

/// Where the ranks meet. Rank 0 serves the store on listen_fd (bound and listening, taken over and
/// closed by the group), the others connect to host:port. Without a listen_fd all connect: somebody
/// else (torchrun's agent) serves it, and maybe others too, so `prefix` tells runs apart.
struct Rendezvous {
  int rank = 0;
  int world = 1;
  std::string host = "127.0.0.1";
  int port = 0;
  int listen_fd = -1;  // rank 0 only
  std::string prefix;
  std::string address;    // of this host, for Gloo; empty: host. GLOO_SOCKET_IFNAME goes before it
  double timeout_s = 60;  // of the meeting, of every store call, and of a collective
};

class ProcessGroup {
 public:
  /// Collective: returns when all ranks have met and, with NCCL, are connected. device is the one
  /// that all tensors given to collectives lie on. Throws Error(kHost) when the loaded NCCL is not
  /// the one built for, c10::Error or c10::DistError when a rank does not come in time.
  ProcessGroup(Backend backend, const Rendezvous& meeting, at::Device device);
  /// Leaves without waiting for anybody; shutdown() is the orderly way.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const;
  int world() const;
  Backend backend() const;
  at::Device device() const;

  // Collectives, in place unless said otherwise, in the same order on every rank. With NCCL they
  // are enqueued and the current stream waits for them; with Gloo they return when done.
  void broadcast(at::Tensor tensor, int root);
  void all_reduce(at::Tensor tensor, Reduction reduction);
  /// whole: the parts of all ranks one after another; part: this rank's. Both contiguous.
  void all_gather(at::Tensor whole, at::Tensor part);
  /// part: this rank's part of the reduction of all ranks' `whole`. Both contiguous.
  void reduce_scatter(at::Tensor part, at::Tensor whole, Reduction reduction);
  /// Parameters and buffers of `root` everywhere: few large messages, any mix of types and layouts.
  void broadcast_all(const std::vector<at::Tensor>& tensors, int root);
  /// Throws when the number, types, shapes or strides of the tensors differ between ranks.
  void check_same_layout(const std::vector<at::Tensor>& tensors);
  /// Returns when every rank has called it and its earlier collectives are done.
  void barrier();

  // The store; any rank, no collective.
  void set(const std::string& key, const std::string& value);
  /// Waits for the key, at most timeout_s.
  std::string get(const std::string& key);
  void remove(const std::string& key);
  /// Collective: returns when rank 0 has come, however long that takes, and then all others. For
  /// what rank 0 does alone while the others wait; `purpose` names it in the store. on_wait is
  /// called about every second.
  void wait_for_root(const std::string& purpose, const std::function<void()>& on_wait);

  /// Collective, once, after everything that uses the group (reducers, graphs) is gone: waits for
  /// the device and for all ranks, closes the communicator, and lets rank 0, which serves the
  /// store, leave last.
  void shutdown();

  struct Impl;  // comm/c10d_group.h
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace falcon::comm
