#include "launch/joined.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/revision.h"
#include "base/text.h"
#include "falconbench/clock.h"
#include "launch/process.h"
#include "launch/worker_arguments.h"

namespace falcon::launch {
namespace {

constexpr double kTryAgainSeconds = 0.05;
constexpr double kHelloSeconds = 10;  // from the connection to its first message
constexpr std::size_t kNameDigits = 16;

// In the abstract namespace: nothing is left behind, and it ends with the launcher.
sockaddr_un door_address(const Job& job, socklen_t& size) {
  const std::string name = "falconbench/" + std::to_string(getuid()) + "/" +
                           job.key.substr(0, kNameDigits) + "/" + job.node;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return address;
}

Descriptor local_socket(int flags) {
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!made.is_open()) throw_errno("cannot make a local socket");
  return raised(std::move(made));
}

// The join message with the read end of the output pipe beside its first byte.
void send_join(int socket, const std::string& frame, int output_fd) {
  char control[CMSG_SPACE(sizeof(int))] = {};
  iovec bytes{const_cast<char*>(frame.data()), frame.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &output_fd, sizeof output_fd);
  const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  if (sent < 0) throw_errno("cannot join the launcher of this host", ExitCode::kWorker);
  for (std::size_t begin = static_cast<std::size_t>(sent); begin < frame.size();) {
    const ssize_t more = send(socket, frame.data() + begin, frame.size() - begin, MSG_NOSIGNAL);
    if (more <= 0) throw_errno("cannot join the launcher of this host", ExitCode::kWorker);
    begin += static_cast<std::size_t>(more);
  }
}

// One read; a descriptor that came with it goes to `rights`.
ssize_t receive_with_rights(int socket, std::string& chunk, Descriptor& rights) {
  char control[CMSG_SPACE(sizeof(int))] = {};
  iovec bytes{chunk.data(), chunk.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); size > 0 && part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
    rights = raised(Descriptor(fd));
  }
  return size;
}

// One message and no byte more: what follows is for the worker.
std::optional<Message> read_one(int socket) {
  FrameReader frames;
  const auto take = [&](std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t got = recv(socket, bytes.data(), size, MSG_WAITALL);
    if (got != static_cast<ssize_t>(size)) return false;
    frames.feed(bytes);
    return true;
  };
  if (!take(kFrameHeaderBytes)) return {};
  std::optional<std::string> payload = frames.next();
  while (!payload) {
    if (!take(frames.missing_bytes())) return {};
    payload = frames.next();
  }
  return decode(*payload);
}

[[noreturn]] void become(const std::vector<std::string>& environment, int control_fd, int output_fd,
                         const std::string& program_name) {
  // the launcher hears of signals too, and decides; this process ends when it is told to
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  const Descriptor null = open_null();
  dup2(null.get(), STDIN_FILENO);
  dup2(output_fd, STDOUT_FILENO);
  dup2(output_fd, STDERR_FILENO);
  dup2(control_fd, kWorkerControlFd);
  WorkerArguments arguments;
  arguments.control_fd = kWorkerControlFd;
  std::vector<std::string> words = words_of(arguments);
  words.insert(words.begin(), program_name);
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> all = environment_with(environment);
  for (std::string& assignment : all) envp.push_back(assignment.data());
  envp.push_back(nullptr);
  execve("/proc/self/exe", argv.data(), envp.data());
  throw_errno("cannot become a worker", ExitCode::kWorker);
}

}  // namespace

LocalDoor::LocalDoor(const Job& job) : socket_(local_socket(SOCK_NONBLOCK)) {
  socklen_t size = 0;
  const sockaddr_un address = door_address(job, size);
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(socket_.get(), SOMAXCONN) != 0) {
    throw_errno(
        "another process of this run is the launcher of this host, or the last one has not "
        "ended; FALCONBENCH_HOSTNAME tells hosts apart that share a network");
  }
}

std::optional<Joined> LocalDoor::let_in() {
  Descriptor accepted(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!accepted.is_open()) return {};
  Joined joined;
  joined.socket = raised(std::move(accepted));
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(joined.socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      peer.uid != getuid()) {
    return {};
  }
  joined.pid = peer.pid;
  FrameReader frames;
  std::string chunk(64 << 10, '\0');
  const Waiting waiting{.check = {}, .until_s = steady_now_s() + kHelloSeconds};
  while (waiting.poll_one(joined.socket.get(), POLLIN)) {
    const ssize_t got = receive_with_rights(joined.socket.get(), chunk, joined.output);
    if (got <= 0) return {};
    frames.feed({chunk.data(), static_cast<std::size_t>(got)});
    const auto payload = frames.next();
    if (!payload) continue;
    const Message message = decode(*payload);
    if (message.type != MessageType::kJoin || !joined.output.is_open()) return {};
    joined.join = body_of<Join>(message);
    return joined;
  }
  return {};
}

std::vector<Joined> LocalDoor::gather(const Job& job, const Waiting& waiting) {
  const auto wanted = static_cast<std::size_t>(job.local_world - 1);
  std::vector<Joined> all;
  while (all.size() < wanted) {
    if (!waiting.poll_one(socket_.get(), POLLIN)) {
      throw Error(ExitCode::kHost, "only " + std::to_string(all.size() + 1) + " of the " +
                                       std::to_string(job.local_world) + " processes that " +
                                       job.started_by + " was to start on this host have come");
    }
    std::optional<Joined> joined = let_in();
    if (!joined) continue;
    const Join& join = joined->join;
    if (join.protocol != kProtocolVersion || join.version != base::version()) {
      throw Error(ExitCode::kUsage, "rank " + std::to_string(join.rank) + " runs falconbench " +
                                        base::printable(join.version) + ", rank " +
                                        std::to_string(job.rank) + " " + base::version());
    }
    all.push_back(std::move(*joined));
  }
  std::sort(all.begin(), all.end(),
            [](const Joined& a, const Joined& b) { return a.join.rank < b.join.rank; });
  return all;
}

void refuse(Joined& joined, ExitCode code, const std::string& message) {
  ControlChannel channel(std::move(joined.socket));
  channel.say(MessageType::kRefuse, Refusal{static_cast<int>(code), message});
}

ExitCode become_worker(const Job& job, Join join, const std::string& program_name,
                       const Waiting& waiting, std::string& message) {
  socklen_t size = 0;
  const sockaddr_un address = door_address(job, size);
  Descriptor socket = local_socket(0);
  while (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    if (waiting.poll({}, steady_now_s() + kTryAgainSeconds)) continue;
    message = "no launcher on this host: the process of local rank 0 of the job has not come";
    return ExitCode::kHost;
  }
  DescriptorPair output = make_pipe();
  join.protocol = kProtocolVersion;
  join.version = base::version();
  join.rank = job.rank;
  join.local_rank = job.local_rank;
  send_join(socket.get(), encoded(MessageType::kJoin, join), output.first.get());
  output.first.close();
  // the launcher decides how long: it waits for other hosts
  Waiting no_limit = waiting;
  no_limit.until_s = Waiting().until_s;
  no_limit.poll_one(socket.get(), POLLIN);
  const std::optional<Message> answer = read_one(socket.get());
  if (!answer) {
    message = "the launcher of this host (local rank 0) has ended before the run began";
    return ExitCode::kWorker;
  }
  if (answer->type == MessageType::kRefuse) {
    const auto refusal = body_of<Refusal>(*answer);
    message = refusal.message;
    return static_cast<ExitCode>(refusal.exit_code);
  }
  become(body_of<Accept>(*answer).environment, socket.get(), output.second.get(), program_name);
}

Descriptor JoinedProcess::open_peer(pid_t pid) {
  return open_pidfd(pid);
}

JoinedProcess::~JoinedProcess() {
  signal_group(SIGKILL);
}

void JoinedProcess::signal_group(int signal) const {
  if (!is_running()) return;
  if (pidfd_.is_open()) {
    syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
  } else {
    kill(pid_, signal);
  }
}

bool JoinedProcess::reap() {
  if (!is_running()) return false;
  const char now = state();
  if (now != 'Z' && now != 'X' && now != '?') return false;
  ProcessEnd end;
  end.unknown = "ended; its exit code is known to the program that started it";
  end_ = end;
  pidfd_.close();
  return true;
}

char JoinedProcess::state() const {
  if (!is_running()) return '?';
  pollfd ended{pidfd_.get(), POLLIN, 0};
  if (pidfd_.is_open() && ::poll(&ended, 1, 0) == 1) return 'Z';
  return process_state(pid_);
}

}  // namespace falcon::launch
