// The matrices of `nvidia-smi topo`: -m (how far apart), -mp (the same by PCIe alone), -p2p r, w, n
// (who may reach whom).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace falcon::platform {

struct TopoMatrix {
  bool is_peer_status = false;    // of -p2p: cells are OK, CNS, GNS, ...
  bool is_pcie_only = false;      // of -mp, or it may be: NVLink is left out
  std::vector<std::string> gpus;  // GPU0, GPU1, ...
  std::vector<std::string> nics;  // columns in their order
  // A cell is absent when it holds no word that is known there.
  std::vector<std::vector<std::optional<std::string>>> cells;           // [gpu][gpu]
  std::vector<std::vector<std::optional<std::string>>> nic_cells;       // [nic][gpu]
  std::vector<std::optional<std::string>> cpu_affinity, numa_affinity;  // by GPU
};

/// The names of the columns: GPU0, GPU1, ...
bool begins_topo_matrix(std::string_view line);
/// Throws Error(kUsage) when rows or cells are missing.
TopoMatrix read_topo_matrix(std::string_view text);

/// "NV12" -> 12; 0 for another class.
int nvlinks_of(std::string_view cell);

}  // namespace falcon::platform
