#include "comm/nccl_log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>

#include <sys/mman.h>
#include <unistd.h>

#include <falconbench/errors.h>

#include "base/text.h"

namespace falcon::comm {
namespace {

std::string path_of(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

int open_in_memory(const char* name) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) throw Error(ExitCode::kInternal, std::string(name) + ": no file in memory");
  return fd;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written <= 0) throw Error(ExitCode::kInternal, "NCCL's topology could not be written");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 1 << 16> part{};
  while (true) {
    const ssize_t got = pread(fd, part.data(), part.size(), static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::vector<Transport> transports_in(std::string_view log) {
  std::map<std::tuple<int, int, std::string>, int> channels;
  for (const std::string& line : base::split(log, '\n')) {
    const std::size_t begin = line.find(" Channel ");
    const std::size_t colon = begin == std::string::npos ? begin : line.find(" : ", begin);
    const std::size_t via = colon == std::string::npos ? colon : line.find(" via ", colon);
    if (via == std::string::npos) continue;
    int from = 0;
    int to = 0;
    // a rank, then in brackets its device, by number or by address
    if (std::sscanf(line.c_str() + colon, " : %d[%*[^]]] -> %d[", &from, &to) != 2) continue;
    std::string transport = line.substr(via + 5);
    transport.erase(std::min(transport.find(' '), transport.size()));
    ++channels[{from, to, transport}];
  }
  std::vector<Transport> transports;
  for (const auto& [key, count] : channels) {
    transports.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
  }
  return transports;
}

NcclLog::NcclLog(const NcclPlan& plan) {
  for (const auto& [name, value] : plan.environment) setenv(name.c_str(), value.c_str(), 1);
  if (plan.environment.contains("NCCL_DEBUG")) {
    log_fd_ = open_in_memory("nccl-log");
    setenv("NCCL_DEBUG_FILE", path_of(log_fd_).c_str(), 1);
  }
  if (!plan.topology.empty()) {
    topology_fd_ = open_in_memory("nccl-topology");
    write_all(topology_fd_, plan.topology);
    setenv("NCCL_TOPO_FILE", path_of(topology_fd_).c_str(), 1);
  }
}

NcclLog::~NcclLog() {
  if (log_fd_ >= 0) close(log_fd_);
  if (topology_fd_ >= 0) close(topology_fd_);
}

Measured<std::vector<Transport>> NcclLog::transports() const {
  using Transports = Measured<std::vector<Transport>>;
  if (log_fd_ < 0) {
    return Transports::missing("NCCL writes its log where NCCL_DEBUG_FILE or NCCL_DEBUG say");
  }
  std::vector<Transport> found = transports_in(read_all(log_fd_));
  if (found.empty()) return Transports::missing("NCCL's log names no transport");
  return found;
}

}  // namespace falcon::comm
