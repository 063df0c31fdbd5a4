#include "made_links.h"

#include <stdexcept>

namespace falcon::report {
namespace {

LinkDevice made_device(int index) {
  LinkDevice device;
  device.index = index;
  device.name = "gpu" + std::to_string(index);
  device.kind = "cuda";
  device.uuid = "GPU-" + std::to_string(index);
  device.pci_address = "0000:0" + std::to_string(index + 1) + ":00.0";
  device.product = "NVIDIA H200";
  device.attach = std::string("local");
  device.numa_node = 0;
  device.pcie_generation_max = 5;
  device.pcie_width_max = 16;
  device.compute_capability = std::string("9.0");
  return device;
}

LinkWindows windows_of(std::int64_t bytes, double seconds, std::size_t flows) {
  LinkWindows windows;
  windows.size_bytes = bytes;
  windows.repeats = 4;
  windows.contents_match = true;
  // around what was asked for, so that median, smallest and largest differ
  for (const double factor : {1.02, 0.99, 1.0, 1.01, 0.98}) {
    windows.seconds.push_back(seconds * 4 * factor);
  }
  windows.flow_seconds.assign(flows, windows.seconds);
  return windows;
}

std::vector<CopyTask> made_tasks() {
  const std::vector<std::int64_t> sizes = {kLatencyBytes, 1 << 20, 256 << 20};
  std::vector<CopyTask> tasks = {{{LinkFlow{}}, "memcpy", false, {16, 64 << 20}}};
  for (const int gpu : {0, 1}) {
    tasks.push_back({{{kHostMemory, gpu}}, "host_to_device", false, sizes});
    tasks.push_back({{{gpu, kHostMemory}}, "device_to_host", false, sizes});
  }
  tasks.push_back({{{kHostMemory, 0}, {kHostMemory, 1}}, "host_to_device", false, {256 << 20}});
  for (const bool peer_to_peer : {true, false}) {
    for (const LinkFlow& flow : {LinkFlow{0, 1}, LinkFlow{1, 0}}) {
      for (const char* method : {"write", "read"}) {
        tasks.push_back({{flow}, method, peer_to_peer, sizes});
      }
      if (peer_to_peer) tasks.push_back({{flow}, "load", true, {8}});
    }
    tasks.push_back({{{0, 1}, {1, 0}}, "write", peer_to_peer, {256 << 20}});
  }
  return tasks;
}

CollectivePass made_pass(bool peer_to_peer, double bus_bytes_per_s) {
  CollectivePass pass;
  pass.peer_to_peer = peer_to_peer;
  pass.backend = "nccl";
  pass.work.collectives = {{"all_reduce", {1 << 20, 1 << 30}}};
  for (int rank = 0; rank < 2; ++rank) {
    LinkRecords records;
    records.data_type = "bfloat16";
    records.collectives.resize(1);
    for (const std::int64_t bytes : pass.work.collectives[0].sizes_bytes) {
      // rank 1 is slower: its time counts
      const double seconds = static_cast<double>(bytes) / bus_bytes_per_s * (rank == 0 ? 0.9 : 1);
      records.collectives[0].by_size.push_back(windows_of(bytes, seconds, 1));
    }
    pass.ranks.push_back(std::move(records));
    pass.transports.emplace_back(std::vector<Transport>{
        {rank, 1 - rank, peer_to_peer ? "P2P/CUMEM" : "SHM/direct/direct", 12}});
  }
  return pass;
}

}  // namespace

double usual_time_s(const CopyTask& task, std::int64_t bytes) {
  const LinkFlow& flow = task.flows.front();
  const double size = static_cast<double>(bytes);
  if (task.method == "load") return 1.1e-6;
  const bool is_pair = flow.source != kHostMemory && flow.target != kHostMemory;
  if (bytes == kLatencyBytes) return is_pair && !task.peer_to_peer ? 12e-6 : 1.3e-6;
  if (!is_pair) return size / (flow.source == flow.target ? 10e9 : 55e9);
  return size / (task.peer_to_peer ? 380e9 : 36e9);
}

MadeLinks::MadeLinks() {
  input.run.id = "run";
  input.run.status = "ok";
  input.run.hostname = "node1";
  input.run.command_line = {"falconbench", "links"};
  input.requested.name = "all";
  input.host.hostname = "node1";
  for (const char* uuid : {"GPU-0", "GPU-1"}) {
    Gpu gpu;
    gpu.uuid = uuid;
    gpu.iommu = std::string("identity");
    input.host.gpus.push_back(gpu);
  }
  input.devices = {made_device(0), made_device(1)};
  PairPlace pair{0, 1, std::string("L-L"), std::string("NV18")};
  input.places.pairs = {pair};
  input.acs_bridges = std::vector<std::string>{};
  input.copy_work.copies = made_tasks();
  input.copies.peers = {{0, 1}, {1, 0}};
  input.copies.memory = {{0}, {Measured<int>::missing("get_mempolicy: refused")}};
  set_times(usual_time_s);
  input.collectives = {made_pass(true, 328e9), made_pass(false, 28.8e9)};
}

void MadeLinks::set_times(
    const std::function<double(const CopyTask& task, std::int64_t bytes)>& seconds_of) {
  input.copies.copies.clear();
  for (const CopyTask& task : input.copy_work.copies) {
    LinkResult result;
    for (const std::int64_t bytes : task.sizes_bytes) {
      result.by_size.push_back(windows_of(bytes, seconds_of(task, bytes), task.flows.size()));
    }
    input.copies.copies.push_back(std::move(result));
  }
}

LinkResult& MadeLinks::result_of(const std::string& method, int source, int target,
                                 bool peer_to_peer) {
  for (std::size_t i = 0; i < input.copy_work.copies.size(); ++i) {
    const CopyTask& task = input.copy_work.copies[i];
    if (task.method == method && task.flows.size() == 1 && task.flows[0].source == source &&
        task.flows[0].target == target && task.peer_to_peer == peer_to_peer) {
      return input.copies.copies[i];
    }
  }
  throw std::logic_error("no such task: " + method);
}

}  // namespace falcon::report
