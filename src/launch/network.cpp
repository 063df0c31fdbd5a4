#include "launch/network.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/text.h"
#include "falconbench/clock.h"

namespace falcon::launch {
namespace {

constexpr double kTryAgainSeconds = 0.1;
constexpr double kConnectSeconds = 5;  // for one try

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// Null with the reason in `error`.
Addresses resolve(const std::string& host, int port, int flags, std::string& error) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(),
                               &hints, &found);
  if (code != 0) error = gai_strerror(code);
  return {code == 0 ? found : nullptr, freeaddrinfo};
}

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&six)) {
      inet_ntop(AF_INET, six.s6_addr + 12, text, sizeof text);
    } else {
      inet_ntop(AF_INET6, &six, text, sizeof text);
    }
  }
  return text;
}

int port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

Descriptor bound(const addrinfo& address) {
  Descriptor socket(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!socket.is_open()) return {};
  const int yes = 1, no = 0;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address.ai_family == AF_INET6) {
    setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0) return {};
  if (listen(socket.get(), SOMAXCONN) != 0) return {};
  return raised(std::move(socket));
}

// Connected, or not open with errno.
Descriptor connected(const addrinfo& address, const Waiting& waiting) {
  Descriptor socket(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!socket.is_open()) return {};
  if (connect(socket.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return {};
    Waiting one_try = waiting;
    one_try.until_s = std::min(waiting.until_s, steady_now_s() + kConnectSeconds);
    int error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (one_try.poll_one(socket.get(), POLLOUT)) {
      getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    errno = error;
    if (error != 0) return {};
  }
  return socket;
}

void send_at_once(const Descriptor& socket) {
  const int yes = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

Listener listen_on(const std::string& address, int port) {
  std::string error;
  Addresses found = resolve(address, port, AI_NUMERICHOST | AI_PASSIVE, error);
  Listener listener;
  if (found) listener.socket = bound(*found);
  if (!listener.socket.is_open() && (!found || errno == EADDRNOTAVAIL)) {
    const Addresses named = resolve(address, port, 0, error);
    const int family = named ? named->ai_family : AF_INET;
    found =
        resolve(family == AF_INET6 ? "::" : "0.0.0.0", port, AI_NUMERICHOST | AI_PASSIVE, error);
    if (found) listener.socket = bound(*found);
  }
  if (!listener.socket.is_open()) {
    throw_errno("cannot listen on " + base::printable(address) + " port " + std::to_string(port) +
                " for the other hosts of the run");
  }
  listener.port = port_of(listener.socket);
  return listener;
}

void let_block(const Listener& listener) {
  const int flags = fcntl(listener.socket.get(), F_GETFL);
  fcntl(listener.socket.get(), F_SETFL, flags & ~O_NONBLOCK);
}

Descriptor accept_from(const Listener& listener) {
  Descriptor socket(accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open()) return socket;
  send_at_once(socket);
  return raised(std::move(socket));
}

Descriptor connect_to(const std::string& address, int port, const Waiting& waiting) {
  std::string error;
  while (true) {
    const Addresses found = resolve(address, port, 0, error);
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
      Descriptor socket = connected(*one, waiting);
      if (socket.is_open()) {
        send_at_once(socket);
        return raised(std::move(socket));
      }
      error = std::strerror(errno);
    }
    if (!waiting.poll({}, steady_now_s() + kTryAgainSeconds)) {
      throw Error(ExitCode::kHost, "cannot reach the first host of the run at " +
                                       base::printable(address) + " port " + std::to_string(port) +
                                       ": " + error);
    }
  }
}

std::string local_address(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  return getsockname(socket.get(), generic, &size) == 0 ? text_of(generic) : "";
}

std::string peer_address(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  return getpeername(socket.get(), generic, &size) == 0 ? text_of(generic) : "";
}

std::string interface_of(const std::string& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return "";
  std::string name;
  for (const ifaddrs* one = list; one != nullptr && name.empty(); one = one->ifa_next) {
    if (one->ifa_addr != nullptr && text_of(one->ifa_addr) == address) name = one->ifa_name;
  }
  // every address 127.x.y.z is the loopback interface's
  if (name.empty() && address.starts_with("127.")) name = "lo";
  freeifaddrs(list);
  return name;
}

}  // namespace falcon::launch
