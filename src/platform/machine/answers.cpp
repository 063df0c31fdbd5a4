#include "platform/machine/answers.h"

#include <set>
#include <utility>

#include "platform/dump/lines.h"
#include "platform/machine/answers_parts.h"

namespace falcon::platform {
namespace {

using base::Value;

// "NV12 for every pair": what nvidia-smi topo -m would print, where nobody asked it.
Measured<std::string> would_show(const Machine& machine, const Dump& dump) {
  using Text = Measured<std::string>;
  if (dump.topo) return Text::missing(dump.topo->file + " is what it showed");
  if (!machine.nvlink.pairs.has_value()) return Text::missing(machine.nvlink.pairs.reason);
  std::set<int> labels;
  for (const auto& pair : *machine.nvlink.pairs) labels.insert(pair[2]);
  const std::size_t count = machine.gpus.size();
  const bool is_full = machine.nvlink.pairs.value->size() == count * (count - 1) / 2;
  if (count < 2 || !is_full || labels.size() != 1) return Text::missing("the pairs differ");
  return "NV" + std::to_string(*labels.begin()) + " for every pair";
}

void put_nodes(const Machine& machine, Value& out) {
  if (machine.numa_nodes.empty()) {
    put_missing(out, "numa_nodes", "no file tells the NUMA nodes");
    return;
  }
  Value nodes = Value::list();
  for (const NumaNode& node : machine.numa_nodes) {
    Value one = Value::object();
    one.set("id", node.id);
    one.set("cpus", list_text(node.cpus));
    put(one, "memory_bytes", node.memory_bytes);
    nodes.push_back(std::move(one));
  }
  out.set("numa_nodes", std::move(nodes));
}

void put_findings(const Machine& machine, Value& out) {
  Value findings = Value::list();
  for (const Finding& finding : machine.findings) {
    Value one = Value::object();
    one.set("id", finding.id);
    one.set("severity", finding.severity);
    one.set("message", finding.message);
    one.set("evidence", finding.evidence);
    one.set("advice", finding.advice);
    findings.push_back(std::move(one));
  }
  out.set("findings", std::move(findings));
}

void put_files(const Dump& dump, Value& out) {
  Value files = Value::list();
  for (const auto& [name, kind] : dump.files) {
    Value one = Value::object();
    one.set("name", name);
    one.set("kind", kind);
    files.push_back(std::move(one));
  }
  Value left_out = Value::list();
  for (const auto& [name, reason] : dump.left_out) {
    Value one = Value::object();
    one.set("name", name);
    one.set("reason", reason);
    left_out.push_back(std::move(one));
  }
  out.set("files", std::move(files));
  out.set("files_left_out", std::move(left_out));
}

}  // namespace

void put_missing(Value& out, const std::string& name, const std::string& reason) {
  out.set(name, Value());
  out.set(name + "_reason", reason);
}

std::vector<std::string> pci_path_of(const PciDevice& device) {
  std::vector<std::string> path = {device.root};
  path.insert(path.end(), device.bridges.begin(), device.bridges.end());
  path.push_back(device.address);
  return path;
}

void put_matrices(const Machine& machine, const Dump& dump, Value& out) {
  put(out, "gpus", machine.gpu_count);
  put(out, "topo", machine.topo);
  put(out, "pcie", machine.pcie);
  put(out, "nvlink_pairs", machine.nvlink.pairs);
  put(out, "nvlink_links_per_gpu", machine.nvlink.links_per_gpu);
  put(out, "nvlink_via_switch", machine.nvlink.via_switch);
  put(out, "nvlink_rate_per_link_GBps", machine.nvlink.gb_per_s_per_link);
  put(out, "nvidia_smi_would_show", would_show(machine, dump));
  put(out, "switch_groups", machine.switch_groups);
  put(out, "switch_groups_PIX", machine.switch_groups_near);
  put(out, "switch_groups_PXB", machine.switch_groups);
}

Value answers_of(const Machine& machine, const Dump& dump) {
  Value out = Value::object();
  put_matrices(machine, dump, out);
  put_gpus(machine, dump, out);
  put_links(machine, dump, out);
  put_nodes(machine, out);
  put_nics(machine, dump, out);
  put_drives(machine, dump, out);
  put_other_devices(machine, dump, out);
  put_places(machine, out);
  put(out, "driver", machine.driver);
  put(out, "cuda", machine.cuda);
  put_missing(out, "nccl", "no file tells its version");
  put(out, "virtual_machine", machine.is_guest);
  put(out, "hypervisor", machine.hypervisor);
  put(out, "container", machine.container);
  put_reports(dump, out);
  put_topo_file(dump, out);
  put_measured(dump, out);
  put_findings(machine, out);
  put_files(dump, out);
  return out;
}

}  // namespace falcon::platform
