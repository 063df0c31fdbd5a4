// What only CUDA and the loaded libraries can tell of a host: printed as JSON by `falconbench
// worker --probe` (a child with the engine loaded), joined to Host by platform::merge_probe.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/host.h"

namespace falcon {

struct ProbeDevice {
  int ordinal = 0;          // of this process
  std::string uuid;         // GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx
  std::string pci_address;  // as CUDA prints it; any form
  std::string name;
  std::string compute_capability;  // "9.0"
  std::int64_t memory_bytes = 0;
  std::vector<int> peers{};  // ordinals of those that it may reach directly
};
template <class V>
void visit_fields(ProbeDevice& d, V& v) {
  v.field("ordinal", d.ordinal, "CUDA's index in the environment of the probe");
  v.field("uuid", d.uuid, "CUDA's UUID");
  v.field("pci_address", d.pci_address, "PCI address");
  v.field("name", d.name, "product name");
  v.field("compute_capability", d.compute_capability, "major.minor");
  v.field("memory_bytes", d.memory_bytes, "memory that CUDA shows");
  v.field("peers", d.peers, "indices of the GPUs whose memory it may reach directly");
}

struct ProbeFacts {
  std::vector<ProbeDevice> devices;
  std::map<std::string, LibraryVersion> libraries;
  std::string error;  // why CUDA could not be asked; empty when it could, also without a GPU
};
template <class V>
void visit_fields(ProbeFacts& p, V& v) {
  v.field("devices", p.devices, "GPUs that CUDA shows");
  v.field("libraries", p.libraries, "libraries built for and loaded");
  v.field("error", p.error, "why CUDA could not be asked");
}

}  // namespace falcon
