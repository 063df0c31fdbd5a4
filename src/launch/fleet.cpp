#include "launch/fleet.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <unistd.h>

#include "falconbench/clock.h"
#include "launch/worker_arguments.h"

namespace falcon::launch {
namespace {

// Between two looks at a worker whose end the kernel does not announce (no pidfd).
constexpr double kLookAgainSeconds = 0.05;
constexpr double kLongestWaitSeconds = 3600;  // poll() counts milliseconds in an int

int events_of(const Channel& channel) {
  return POLLIN | (channel.wants_to_write() ? POLLOUT : 0);
}

Joined* joined_of(const LaunchOptions& options, int rank) {
  if (options.crew == nullptr) return nullptr;
  for (Joined& joined : options.crew->joined()) {
    if (joined.join.rank == rank) return &joined;
  }
  return nullptr;
}

}  // namespace

WorkerPlan Fleet::worker_plan(int rank) const {
  WorkerPlan told;
  told.protocol = kProtocolVersion;
  told.plan = plan_;
  told.rank = rank;
  told.store_host = meeting_.host;
  told.store_port = meeting_.port;
  told.address = meeting_.address;
  told.watchdog_s = options_.watchdog_s;
  told.links = options_.links;
  return told;
}

// CUDA then counts GPUs in the order of NVML and lspci. Threads that wait for each other must not
// spin: beside decode threads on few cores that makes a step ten times longer.
std::vector<std::string> Fleet::environment_of(int rank) const {
  const RankPlan& planned = plan_.ranks.at(static_cast<std::size_t>(rank));
  std::vector<std::string> variables = {
      "CUDA_DEVICE_ORDER=PCI_BUS_ID", "OMP_WAIT_POLICY=PASSIVE",
      "OMP_NUM_THREADS=" + std::to_string(planned.compute_threads)};
  // NCCL would take the first interface that it finds
  if (!meeting_.interface.empty() && std::getenv("NCCL_SOCKET_IFNAME") == nullptr) {
    variables.push_back("NCCL_SOCKET_IFNAME==" + meeting_.interface);
  }
  return variables;
}

ProcessStart Fleet::process_start(int rank) const {
  WorkerArguments arguments;
  arguments.control_fd = kWorkerControlFd;
  const bool serves = rank == 0 && meeting_.listener.socket.is_open();
  if (serves) arguments.listen_fd = kWorkerListenFd;
  arguments.parent = getpid();
  arguments.extra = options_.extra_arguments;
  ProcessStart start;
  start.executable = options_.executable;
  start.arguments = words_of(arguments);
  start.arguments.insert(start.arguments.begin(), options_.program_name);
  start.environment = environment_with(environment_of(rank));
  if (serves) {
    let_block(meeting_.listener);
    start.listen_fd = meeting_.listener.socket.get();
  }
  return start;
}

void Fleet::start(int rank) {
  RemoteHost* host = options_.crew == nullptr ? nullptr : options_.crew->host_of(rank);
  if (host != nullptr) {
    add(rank, host, host->process_of(rank), host->channel_of(rank), Descriptor());
    return;
  }
  if (Joined* joined = joined_of(options_, rank)) {
    start_joined(rank, *joined);
  } else {
    start_child(rank);
  }
  workers_.back().channel->say(MessageType::kPlan, worker_plan(rank));
  if (options_.on_started) options_.on_started(rank, workers_.back().process->pid());
}

void Fleet::start_child(int rank) {
  DescriptorPair control = make_socket_pair();
  DescriptorPair output = make_pipe();
  ProcessStart start = process_start(rank);
  start.control_fd = control.second.get();
  start.output_fd = output.second.get();
  add(rank, nullptr, std::make_unique<Process>(start),
      std::make_unique<ControlChannel>(std::move(control.first)), std::move(output.first));
  if (rank == 0) meeting_.listener.socket.close();
}

void Fleet::start_joined(int rank, Joined& joined) {
  auto channel = std::make_unique<ControlChannel>(std::move(joined.socket));
  channel->say(MessageType::kAccept, Accept{environment_of(rank)});
  add(rank, nullptr, std::make_unique<JoinedProcess>(joined.pid), std::move(channel),
      std::move(joined.output));
}

Worker& Fleet::add(int rank, RemoteHost* host, std::unique_ptr<WorkerProcess> process,
                   std::unique_ptr<Channel> channel, Descriptor output) {
  OutputLines::OnLine on_line;
  if (options_.on_log) {
    on_line = [this, rank](const std::string& line) { options_.on_log(rank, line); };
  }
  const double now_s = steady_now_s();
  workers_.push_back(Worker{.rank = rank,
                            .host = host,
                            .process = std::move(process),
                            .channel = std::move(channel),
                            .output = OutputLines(std::move(output), std::move(on_line)),
                            .watch = Watch(options_.limits, now_s),
                            .started_s = now_s,
                            .channel_closed_s = {},
                            .records = {}});
  return workers_.back();
}

Worker& Fleet::of_rank(int rank) {
  return *std::find_if(workers_.begin(), workers_.end(),
                       [rank](const Worker& worker) { return worker.rank == rank; });
}

void Fleet::wait(double until_s, std::span<const pollfd> others) {
  std::vector<pollfd> waits(others.begin(), others.end());
  for (const Worker& worker : workers_) {
    if (!worker.process->is_running()) continue;
    waits.push_back({worker.channel->fd(), static_cast<short>(events_of(*worker.channel)), 0});
    waits.push_back({worker.process->pidfd(), POLLIN, 0});
    waits.push_back({worker.output.fd(), POLLIN, 0});
    const bool is_here = worker.host == nullptr;
    if (is_here && worker.process->pidfd() < 0 && !worker.channel->is_open()) {
      until_s = std::min(until_s, steady_now_s() + kLookAgainSeconds);
    }
  }
  const double wait_s = std::clamp(until_s - steady_now_s(), 0.0, kLongestWaitSeconds);
  poll(waits.data(), waits.size(), static_cast<int>(std::ceil(1e3 * wait_s)));
}

bool Fleet::is_any_running() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.process->is_running(); });
}

bool Fleet::has_all_records() const {
  return workers_.size() == plan_.ranks.size() &&
         std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.records.has_value(); });
}

void Fleet::order_end(const std::string& reason) {
  for (Worker& worker : workers_) {
    if (!worker.process->is_running()) continue;
    worker.is_told_to_end = true;
    if (worker.channel->is_open()) worker.channel->say(MessageType::kAbort, Order{reason});
  }
}

void Fleet::signal_all(int signal) {
  for (Worker& worker : workers_) {
    if (!worker.process->is_running()) continue;
    worker.is_told_to_end = true;
    worker.process->signal_group(signal);
  }
}

WorkerEnd end_of(const Worker& worker, bool with_lines) {
  WorkerEnd end;
  end.rank = worker.rank;
  end.pid = worker.process->pid();
  end.started_s = worker.started_s;
  end.ended_s = worker.ended_s;
  end.ended_by_launcher = worker.is_told_to_end;
  end.phase = worker.watch.current_phase();
  end.last_step = worker.watch.last_step();
  if (with_lines) end.last_lines = worker.output.last_lines();
  const std::optional<ProcessEnd>& process = worker.process->end();
  if (!process || !process->unknown.empty()) {
    end.ended = !process         ? "did not end when it was killed"
                : worker.is_done ? kDoneWithoutCode
                                 : process->unknown;
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
