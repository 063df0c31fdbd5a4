#include "launch/worker_channel.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "falconbench/clock.h"

namespace falcon::launch {
namespace {

constexpr std::size_t kChunkBytes = 64 << 10;
// A message is read by people; an exception that carries a whole file is cut.
constexpr std::size_t kMaxFailureBytes = 16 << 10;

std::string own_hostname() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return base::printable(name, sizeof name);
}

// Lines are kept, everything else that is not text is escaped: the channel carries valid UTF-8.
std::string readable(const std::string& message) {
  std::vector<std::string> lines = base::split(message.substr(0, kMaxFailureBytes), '\n');
  for (std::string& line : lines) line = base::printable(line, kMaxFailureBytes);
  return base::join(lines, "\n");
}

[[noreturn]] void throw_gone() {
  throw_errno("worker: the launcher is gone", ExitCode::kWorker);
}

}  // namespace

WorkerChannel::WorkerChannel(int control_fd, double alive_interval_s)
    : socket_(control_fd), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (!wake_.is_open()) throw_errno("worker: cannot make an eventfd", ExitCode::kWorker);
  fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);  // a child of this worker would hold it open
  Hello hello{kProtocolVersion, getpid(), own_hostname()};
  send(encoded(MessageType::kHello, hello));
  receive_plan();
  control_thread_ = std::thread([this, alive_interval_s] { control_loop(alive_interval_s); });
}

WorkerChannel::~WorkerChannel() {
  is_closing_ = true;
  const std::uint64_t one = 1;
  // an eventfd takes a first write always
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
  if (control_thread_.joinable()) control_thread_.join();
}

void WorkerChannel::receive_plan() {
  std::string chunk(kChunkBytes, '\0');
  while (true) {
    if (const auto payload = frames_.next()) {
      Message message = decode(*payload);
      if (message.type != MessageType::kPlan) {
        throw Error(ExitCode::kWorker, "worker: expected the plan from the launcher, got \"" +
                                           std::string(name_of(message.type)) + "\"");
      }
      // before the body is read: of another version it may look otherwise
      const base::Value* protocol = message.body.find("protocol");
      const bool is_number = protocol != nullptr && protocol->is_integer();
      check_protocol(is_number ? static_cast<int>(protocol->as_integer()) : 0, "the launcher");
      plan_ = body_of<WorkerPlan>(message);
      return;
    }
    const ssize_t size = recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw Error(ExitCode::kWorker, "worker: the launcher closed the channel");
    frames_.feed({chunk.data(), static_cast<std::size_t>(size)});
  }
}

bool WorkerChannel::send_locked(const std::string& frame) {
  for (std::size_t begin = 0; begin < frame.size();) {
    const ssize_t sent =
        ::send(socket_.get(), frame.data() + begin, frame.size() - begin, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) begin += static_cast<std::size_t>(sent);
  }
  return true;
}

void WorkerChannel::send(const std::string& frame) {
  const std::lock_guard lock(send_mutex_);
  if (!send_locked(frame)) throw_gone();
}

bool WorkerChannel::send_alive() {
  const std::lock_guard lock(send_mutex_);
  return send_locked(encoded(MessageType::kAlive, progress()));
}

Progress WorkerChannel::progress() {
  const std::lock_guard lock(state_mutex_);
  // not a C++ object that this process writes: the GPU stores whole 8-byte words there
  const std::int64_t step = counter_ != nullptr ? __atomic_load_n(counter_, __ATOMIC_ACQUIRE)
                                                : own_step_.load(std::memory_order_relaxed);
  return {phase_, step, steady_now_s(), work_.load(std::memory_order_relaxed)};
}

void WorkerChannel::set_phase(const std::string& phase) {
  // one lock from the change to the message: a sign of life with the old phase must not come after
  const std::lock_guard lock(send_mutex_);
  {
    const std::lock_guard state_lock(state_mutex_);
    phase_ = phase;
  }
  if (!send_locked(encoded(MessageType::kPhase, progress()))) throw_gone();
}

void WorkerChannel::read_step_from(const volatile std::int64_t* counter) {
  const std::lock_guard lock(state_mutex_);
  if (counter == nullptr && counter_ != nullptr) own_step_ = *counter_;  // no step back
  counter_ = counter;
}

void WorkerChannel::measuring_began(double time_s) {
  send(encoded(MessageType::kMeasuringBegan, Moment{time_s}));
}

void WorkerChannel::measuring_ended(double time_s) {
  send(encoded(MessageType::kMeasuringEnded, Moment{time_s}));
}

void WorkerChannel::send_records(const WorkerRecords& records) {
  send(encoded(MessageType::kRecords, records));
}

void WorkerChannel::send_failure(const std::string& kind, const std::string& message,
                                 ExitCode code) {
  const Progress now = progress();
  FailureMessage body;
  body.failure.kind = kind;
  body.failure.message = readable(message);
  body.failure.rank = plan_.rank;
  body.failure.host = own_hostname();
  body.failure.phase = now.phase;
  body.failure.last_step = now.step;
  body.exit_code = static_cast<int>(code);
  body.time_s = now.time_s;
  send(encoded(MessageType::kFailure, body));
}

void WorkerChannel::done() {
  send(encoded(MessageType::kDone, Nothing{}));
}

void WorkerChannel::control_loop(double alive_interval_s) {
  double next_alive_s = steady_now_s();
  if (!obey_orders()) end_process();  // an order may have come together with the plan
  while (!is_closing_) {
    if (steady_now_s() >= next_alive_s) {
      if (!send_alive()) end_process();
      next_alive_s = steady_now_s() + alive_interval_s;
    }
    pollfd waits[2] = {{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    const double wait_ms = std::max(0.0, std::ceil(1e3 * (next_alive_s - steady_now_s())));
    if (poll(waits, 2, static_cast<int>(wait_ms)) > 0 && waits[0].revents != 0 &&
        !(receive_orders() && obey_orders())) {
      end_process();
    }
  }
}

// False: the launcher closed the channel.
bool WorkerChannel::receive_orders() {
  char chunk[4096];
  const ssize_t size = recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
  if (size > 0) frames_.feed({chunk, static_cast<std::size_t>(size)});
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

// False: the launcher orders the end, or talks nonsense.
bool WorkerChannel::obey_orders() {
  try {
    while (const auto payload = frames_.next()) {
      if (decode(*payload).type != MessageType::kStop) return false;
      stop_requested_ = true;
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

// The one place below cli that ends the process: the main thread may be inside a collective that
// will never return, so nothing can be unwound; destructors and exit handlers of Torch and CUDA
// would wait for it. Nothing of value is lost: the launcher, which could report, is gone or has
// given this worker up, and stderr is not buffered.
void WorkerChannel::end_process() {
  ::_exit(static_cast<int>(ExitCode::kWorker));
}

}  // namespace falcon::launch
