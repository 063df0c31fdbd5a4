#include "launch/fleet.h"

#include <algorithm>
#include <cmath>

#include <poll.h>
#include <unistd.h>

#include "falconbench/clock.h"
#include "launch/worker_arguments.h"

namespace falcon::launch {
namespace {

// Between two looks at a worker whose end the kernel does not announce (no pidfd).
constexpr double kLookAgainSeconds = 0.05;
constexpr double kLongestWaitSeconds = 3600;  // poll() counts milliseconds in an int

int events_of(const ControlChannel& channel) {
  return POLLIN | (channel.wants_to_write() ? POLLOUT : 0);
}

}  // namespace

WorkerPlan Fleet::worker_plan(int rank) const {
  WorkerPlan told;
  told.protocol = kProtocolVersion;
  told.plan = plan_;
  told.rank = rank;
  told.store_host = rendezvous_->host;
  told.store_port = rendezvous_->port;
  told.watchdog_s = options_.watchdog_s;
  told.links = options_.links;
  return told;
}

ProcessStart Fleet::process_start(int rank) const {
  const RankPlan& planned = plan_.ranks.at(static_cast<std::size_t>(rank));
  WorkerArguments arguments;
  arguments.control_fd = kWorkerControlFd;
  if (rank == 0) arguments.listen_fd = kWorkerListenFd;
  arguments.parent = getpid();
  arguments.extra = options_.extra_arguments;
  ProcessStart start;
  start.executable = options_.executable;
  start.arguments = words_of(arguments);
  start.arguments.insert(start.arguments.begin(), options_.program_name);
  // CUDA then counts GPUs in the order of NVML and lspci. Threads that wait for each other must not
  // spin: beside decode threads on few cores that makes a step ten times longer.
  start.environment =
      environment_with({"CUDA_DEVICE_ORDER=PCI_BUS_ID", "OMP_WAIT_POLICY=PASSIVE",
                        "OMP_NUM_THREADS=" + std::to_string(planned.compute_threads)});
  if (rank == 0) start.listen_fd = rendezvous_->socket.get();
  return start;
}

void Fleet::start_next() {
  const int rank = static_cast<int>(workers_.size());
  if (!rendezvous_) rendezvous_ = listen_on_loopback();
  DescriptorPair control = make_socket_pair();
  DescriptorPair output = make_pipe();
  ProcessStart start = process_start(rank);
  start.control_fd = control.second.get();
  start.output_fd = output.second.get();
  OutputLines::OnLine on_line;
  if (options_.on_log) {
    on_line = [this, rank](const std::string& line) { options_.on_log(rank, line); };
  }
  const double now_s = steady_now_s();
  workers_.push_back(Worker{.rank = rank,
                            .process = Process(start),
                            .channel = ControlChannel(std::move(control.first)),
                            .output = OutputLines(std::move(output.first), std::move(on_line)),
                            .watch = Watch(options_.limits, now_s),
                            .started_s = now_s,
                            .channel_closed_s = {},
                            .records = {}});
  if (rank == 0) rendezvous_->socket.close();
  workers_.back().channel.send(encoded(MessageType::kPlan, worker_plan(rank)));
  if (options_.on_started) options_.on_started(rank, workers_.back().process.pid());
}

void Fleet::wait(double until_s, int other_fd) {
  std::vector<pollfd> waits = {{other_fd, POLLIN, 0}};
  for (const Worker& worker : workers_) {
    if (!worker.process.is_running()) continue;
    waits.push_back({worker.channel.fd(), static_cast<short>(events_of(worker.channel)), 0});
    waits.push_back({worker.process.pidfd(), POLLIN, 0});
    waits.push_back({worker.output.fd(), POLLIN, 0});
    if (worker.process.pidfd() < 0 && !worker.channel.is_open()) {
      until_s = std::min(until_s, steady_now_s() + kLookAgainSeconds);
    }
  }
  const double wait_s = std::clamp(until_s - steady_now_s(), 0.0, kLongestWaitSeconds);
  poll(waits.data(), waits.size(), static_cast<int>(std::ceil(1e3 * wait_s)));
}

bool Fleet::is_any_running() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.process.is_running(); });
}

bool Fleet::has_all_records() const {
  return workers_.size() == plan_.ranks.size() &&
         std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.records.has_value(); });
}

void Fleet::order_end(const std::string& reason) {
  for (Worker& worker : workers_) {
    if (!worker.process.is_running()) continue;
    worker.is_told_to_end = true;
    if (worker.channel.is_open()) {
      worker.channel.send(encoded(MessageType::kAbort, Order{reason}));
    }
  }
}

void Fleet::signal_all(int signal) {
  for (Worker& worker : workers_) {
    if (!worker.process.is_running()) continue;
    worker.is_told_to_end = true;
    worker.process.signal_group(signal);
  }
}

WorkerEnd end_of(const Worker& worker, bool with_lines) {
  WorkerEnd end;
  end.rank = worker.rank;
  end.pid = worker.process.pid();
  end.started_s = worker.started_s;
  end.ended_s = worker.ended_s;
  end.ended_by_launcher = worker.is_told_to_end;
  end.phase = worker.watch.current_phase();
  end.last_step = worker.watch.last_step();
  if (with_lines) end.last_lines = worker.output.last_lines();
  const std::optional<ProcessEnd>& process = worker.process.end();
  if (!process) {
    end.ended = "did not end when it was killed";
    end.user_s = end.system_s = Measured<double>::missing(end.ended);
    end.peak_rss_bytes = Measured<std::int64_t>::missing(end.ended);
    return end;
  }
  end.ended = to_text(*process);
  end.user_s = process->user_s;
  end.system_s = process->system_s;
  end.peak_rss_bytes = process->peak_rss_bytes;
  return end;
}

}  // namespace falcon::launch
