// Parts of what `falconbench links` says (falconbench/links.h): devices, pairs of them, and host
// memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/fields.h"
#include "falconbench/links_parts.h"
#include "falconbench/measured.h"

namespace falcon {

struct LinkDevice {
  int index = 0;
  std::string name, kind, uuid, pci_address, product;
  Measured<std::string> attach, chassis;
  Measured<std::int64_t> drawer;
  Measured<int> numa_node, pcie_generation_max, pcie_width_max;
  Measured<std::string> compute_capability;
};
template <class V>
void visit_fields(LinkDevice& d, V& v) {
  v.field("index", d.index, "its number in this document; also its rank in collectives");
  v.field("name", d.name, "name in the system file, else PCI address, else cpu");
  v.field("kind", d.kind, "cuda or cpu");
  v.field("uuid", d.uuid, "GPU UUID");
  v.field("pci_address", d.pci_address, "GPU PCI address");
  v.field("product", d.product, "product name");
  v.field("attach", d.attach, "local or falcon, from the system file");
  v.field("chassis", d.chassis, "chassis it sits in");
  v.field("drawer", d.drawer, "drawer of the chassis");
  v.field("numa_node", d.numa_node, "NUMA node of its PCIe slot");
  v.field("pcie_generation_max", d.pcie_generation_max, "largest generation of GPU and slot");
  v.field("pcie_width_max", d.pcie_width_max, "largest width of GPU and slot");
  v.field("compute_capability", d.compute_capability, "major.minor");
}

/// What a link should reach.
struct LinkExpectation {
  Measured<double> raw_bytes_per_s, practical_bytes_per_s;
  std::string practical_source;
  std::string link_class;
  Measured<double> expected_bytes_per_s, expected_both_bytes_per_s, expected_latency_s;
};
template <class V>
void visit_fields(LinkExpectation& e, V& v) {
  v.field("raw_bytes_per_s", e.raw_bytes_per_s, "one way, after line coding");
  v.field("practical_bytes_per_s", e.practical_bytes_per_s, "one way, what such links are seen at");
  v.field("practical_source", e.practical_source, "where that was seen");
  v.field("link_class", e.link_class, "its class in `links` of the system file; empty: none");
  v.field("expected_bytes_per_s", e.expected_bytes_per_s, "one way, as the system file says");
  v.field("expected_both_bytes_per_s", e.expected_both_bytes_per_s,
          "both ways, as the system file says");
  v.field("expected_latency_s", e.expected_latency_s, "at most, as the system file says");
}

/// One ordered pair of GPUs.
struct LinkPair {
  int source = 0, target = 0;
  std::string source_name, target_name, pair_class;
  Measured<std::string> path;
  Measured<bool> peer_access;
  LinkExpectation expectation;
  PairFigures peer_to_peer, host_staged;
  std::vector<CopySeries> copies;
  std::vector<LatencyFigure> latencies;
};
template <class V>
void visit_fields(LinkPair& p, V& v) {
  v.field("source", p.source, "index of the device that data comes from");
  v.field("target", p.target, "index of the device that it goes to");
  v.field("source_name", p.source_name, "name of that device");
  v.field("target_name", p.target_name, "name of that device");
  v.field("pair_class", p.pair_class,
          "L-L, F-L, F-F same drawer, F-F cross drawer; without a system file as path");
  v.field("path", p.path, "NV# or PCIe class, as nvidia-smi topo -m names it");
  v.field("peer_access", p.peer_access, "what CUDA says: direct access is possible");
  v.field("expectation", p.expectation, "what the link should reach");
  v.field("peer_to_peer", p.peer_to_peer, "direct copies");
  v.field("host_staged", p.host_staged, "copies through host memory");
  v.field("copies", p.copies, "every way of copying, by size");
  v.field("latencies", p.latencies, "every kind of latency");
}

struct LinkClass {
  std::string name;
  std::int64_t pairs = 0;
  ClassFigures peer_to_peer, host_staged;
};
template <class V>
void visit_fields(LinkClass& c, V& v) {
  v.field("name", c.name, "pair class");
  v.field("pairs", c.pairs, "ordered pairs of this class");
  v.field("peer_to_peer", c.peer_to_peer, "direct copies, over its pairs");
  v.field("host_staged", c.host_staged, "copies through host memory, over its pairs");
}

/// Copies between one GPU and pinned host memory near it.
struct HostCopies {
  int device = 0;
  std::string name;
  Measured<int> memory_node;
  LinkExpectation expectation;
  std::vector<CopySeries> copies;
  std::vector<LatencyFigure> latencies;
};
template <class V>
void visit_fields(HostCopies& h, V& v) {
  v.field("device", h.device, "index of the GPU");
  v.field("name", h.name, "its name");
  v.field("memory_node", h.memory_node, "NUMA node that the host memory lies on");
  v.field("expectation", h.expectation, "what the link should reach");
  v.field("copies", h.copies, "host_to_device and device_to_host, alone, by size");
  v.field("latencies", h.latencies, "16-byte copies back to back");
}

/// GPUs copy at the same time, all of them or those on one uplink: what sharing leaves to each.
struct HostCopiesTogether {
  std::string name;
  std::vector<int> devices;
  std::string method;
  std::int64_t size_bytes = 0;
  Spread bytes_per_s;
  std::vector<Spread> device_bytes_per_s;
  Measured<double> alone_sum_bytes_per_s, relative_to_alone, expected_bytes_per_s;
  Measured<bool> contents_match;
};
template <class V>
void visit_fields(HostCopiesTogether& h, V& v) {
  v.field("name", h.name, "all, or the uplink that the GPUs share: its drawer, or its switch");
  v.field("devices", h.devices, "indices of the GPUs");
  v.field("method", h.method, "host_to_device or device_to_host");
  v.field("size_bytes", h.size_bytes, "of one copy of one GPU");
  v.field("bytes_per_s", h.bytes_per_s, "these GPUs together");
  v.field("device_bytes_per_s", h.device_bytes_per_s, "of each GPU, in the order of devices");
  v.field("alone_sum_bytes_per_s", h.alone_sum_bytes_per_s, "sum of what each reached alone");
  v.field("relative_to_alone", h.relative_to_alone,
          "together / sum of alone; 1: nothing is shared");
  v.field("expected_bytes_per_s", h.expected_bytes_per_s, "of an uplink, as the system file says");
  v.field("contents_match", h.contents_match, "every window delivered what was sent");
}

}  // namespace falcon
