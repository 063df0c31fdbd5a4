// TCP between the launchers of a run, and which address and interface leads where.
#pragma once
#include <string>

#include "launch/descriptor.h"
#include "launch/waiting.h"

namespace falcon::launch {

struct Listener {
  Descriptor socket;
  int port = 0;
};

/// Listens on `address` where that is one of this host's in numbers; for a name, or an address that
/// is translated on the way, on all addresses: what a host calls itself need not be what others
/// reach. port 0: one that the kernel chooses. Throws Error(kHost) naming address and port.
Listener listen_on(const std::string& address, int port);
/// For a process that takes it over and waits in accept().
void let_block(const Listener& listener);
/// A waiting connection; not open when there is none.
Descriptor accept_from(const Listener& listener);

/// Tries again until somebody listens there. Throws Error(kHost) naming the address when the time
/// is over, and what waiting.check() throws.
Descriptor connect_to(const std::string& address, int port, const Waiting& waiting);

/// In numbers; "" when the socket is not connected.
std::string local_address(const Descriptor& socket);
std::string peer_address(const Descriptor& socket);
/// The interface that has this address; "" when none has.
std::string interface_of(const std::string& address);

}  // namespace falcon::launch
