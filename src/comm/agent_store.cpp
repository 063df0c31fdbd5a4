#include "comm/agent_store.h"

#include <chrono>
#include <cstdint>
#include <vector>

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace falcon::comm {

std::string agent_value(const std::string& host, int port, const std::string& key,
                        const std::optional<std::string>& value, double timeout_s) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(port);
  options.isServer = false;
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * timeout_s));
  const auto store = c10::make_intrusive<c10d::TCPStore>(host, options);
  if (value) {
    store->set(key, std::vector<std::uint8_t>(value->begin(), value->end()));
    return *value;
  }
  const std::vector<std::uint8_t> found = store->get(key);
  return {found.begin(), found.end()};
}

}  // namespace falcon::comm
