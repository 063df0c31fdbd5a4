#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "platform/machine/answers_parts.h"

namespace falcon::platform {
namespace {

using base::Value;

Value pairs_of(const TopoMatrix& topo) {
  Value pairs = Value::list();
  for (std::size_t i = 0; i < topo.cells.size(); ++i) {
    for (std::size_t j = i + 1; j < topo.cells.size(); ++j) {
      const int links = topo.cells[i][j] ? nvlinks_of(*topo.cells[i][j]) : 0;
      if (links == 0) continue;
      pairs.push_back(Value::List{static_cast<int>(i), static_cast<int>(j), links});
    }
  }
  return pairs;
}

Value pairs_by_links(const TopoMatrix& topo) {
  std::map<int, Value> by_links;
  const Value pairs = pairs_of(topo);
  for (const Value& pair : pairs.as_list()) {
    const Value::List& numbers = pair.as_list();
    Value& list =
        by_links.emplace(static_cast<int>(numbers[2].as_integer()), Value::list()).first->second;
    list.push_back(Value::List{numbers[0], numbers[1]});
  }
  Value out = Value::object();
  for (auto& [links, list] : by_links) out.set(std::to_string(links), std::move(list));
  return out;
}

// GPUs that are PIX to the same network card, where NVLink hides their own class.
Value groups_by_nic(const TopoMatrix& topo) {
  std::set<std::vector<int>> groups;
  for (const auto& row : topo.nic_cells) {
    std::vector<int> group;
    for (std::size_t gpu = 0; gpu < row.size(); ++gpu) {
      if (row[gpu] == "PIX") group.push_back(static_cast<int>(gpu));
    }
    if (group.size() > 1) groups.insert(group);
  }
  return to_value(groups);
}

Value links_to_gpus(const TopoMatrix& topo) {
  Value out = Value::list();
  for (const auto& row : topo.cells) {
    int sum = 0;
    for (const auto& cell : row) sum += cell ? nvlinks_of(*cell) : 0;
    out.push_back(sum);
  }
  return out;
}

Value topo_value(const TopoMatrix& topo) {
  Value out = Value::object();
  out.set("gpus", static_cast<int>(topo.gpus.size()));
  out.set("topo", to_value(topo.cells));
  out.set("nvlink_pairs", pairs_of(topo));
  out.set("nvlink_links_per_gpu_to_gpus", links_to_gpus(topo));
  out.set("cpu_affinity", to_value(topo.cpu_affinity));
  out.set("numa_affinity", to_value(topo.numa_affinity));
  out.set("nics", to_value(topo.nics));
  out.set("nic_relation", nic_relation_of(topo));
  return out;
}

Value file_value(const SmiReport& report) {
  static const SmiGpu none;
  const SmiGpu& gpu = report.gpus.empty() ? none : report.gpus.front();
  Value out = Value::object();
  out.set("gpus", static_cast<int>(report.gpus.size()));
  out.set("name", to_value(gpu.name));
  out.set("driver", to_value(report.driver));
  out.set("cuda", to_value(report.cuda));
  out.set("gen_max", to_value(gpu.gen_max));
  out.set("gen_cur", to_value(gpu.gen_cur));
  out.set("width_cur", to_value(gpu.width_cur));
  out.set("pstate", to_value(gpu.pstate));
  out.set("util", to_value(gpu.utilization));
  out.set("throttle_tag", to_value(report.throttle_tag));
  out.set("power_tag", to_value(report.power_tags));
  out.set("na_tags", to_value(report.na_tags));
  return out;
}

std::string stem_of(const std::string& file) {
  const std::size_t dot = file.rfind('.');
  return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
}

Value mig_devices_of(const SmiReport& report) {
  Value out = Value::list();
  for (std::size_t i = 0; i < report.gpus.size(); ++i) {
    for (const SmiMigDevice& mig : report.gpus[i].mig_devices) {
      Value one = Value::object();
      one.set("gpu", static_cast<int>(i));
      one.set("index", to_value(mig.index));
      one.set("gi", to_value(mig.gpu_instance));
      one.set("ci", to_value(mig.compute_instance));
      one.set("fb_total", to_value(mig.memory_total));
      one.set("sm", to_value(mig.multiprocessors));
      out.push_back(std::move(one));
    }
  }
  return out;
}

// What all GPUs of all reports print alike.
Measured<std::string> printed_by_all(const Dump& dump, Printed SmiGpu::*what) {
  using Text = Measured<std::string>;
  std::set<std::string> printed;
  for (const auto& report : reports_or_table(dump)) {
    for (const SmiGpu& gpu : report.content.gpus) {
      if (!(gpu.*what)) return Text::missing(report.file + " does not have it");
      printed.insert(*(gpu.*what));
    }
  }
  if (printed.size() == 1) return *printed.begin();
  return Text::missing(printed.empty() ? "no output of nvidia-smi" : "the GPUs differ");
}

std::string range_text(const std::pair<double, double>& range) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f-%.1f", range.first, range.second);
  return text;
}

Value peer_test_value(const PeerTest& test) {
  const auto range = [](const auto& latency) {
    return latency ? Value(range_text(*latency)) : Value();
  };
  Value out = Value::object();
  out.set("can_access_peer",
          test.can_access == test.pairs
              ? std::string("all pairs")
              : std::to_string(test.can_access) + " of " + std::to_string(test.pairs) + " pairs");
  out.set("unidirectional_GBps_p2p_off", to_value(test.one_way_off));
  out.set("unidirectional_GBps_p2p_on", to_value(test.one_way_on));
  out.set("bidirectional_GBps_p2p_off", to_value(test.both_ways_off));
  out.set("bidirectional_GBps_p2p_on", to_value(test.both_ways_on));
  out.set("latency_us_p2p_off", range(test.latency_off_us));
  out.set("latency_us_p2p_on", range(test.latency_on_us));
  return out;
}

std::string access_control_text(const AccessControl& control) {
  if (control.bits_on.empty()) return "every ACSCtl line has all bits off";
  std::vector<std::string> bits;
  for (const auto& [name, count] : control.bits_on) {
    bits.push_back(name + " is on in " + std::to_string(count));
  }
  return "of " + std::to_string(control.lines) + " ACSCtl lines: " + base::join(bits, ", ");
}

// What a sampler can expect of NVML there.
Value probe_value(const NvmlProbe& probe) {
  Value out = Value::object();
  out.set("supported_fields", to_value(probe.supported));
  out.set("not_supported_fields", to_value(probe.not_supported));
  out.set("pcie_counter_bits", to_value(probe.pcie_counter_bits));
  if (probe.pcie_counter_bits) {
    const double wrap_s = std::exp2(*probe.pcie_counter_bits) / 55e9;
    out.set("pcie_counter_wrap_s_at_55_GBps", std::round(wrap_s * 1000) / 1000);
  }
  out.set("energy_update_period_s", to_value(probe.energy_update_period_s));
  out.set("rx_bytes_true_if_unwrapped", to_value(probe.rx_bytes));
  out.set("tx_bytes_true_if_unwrapped", to_value(probe.tx_bytes));
  return out;
}

// The generation of the link of a single GPU, as printed.
void put_link_of_one(const Dump& dump, Value& out) {
  const bool is_one = dump.reports.size() == 1 && dump.reports[0].content.gpus.size() == 1;
  if (!is_one) {
    put_missing(out, "link", "not one output of nvidia-smi -q with one GPU: see links");
    return;
  }
  Value link = Value::object();
  link.set("max", to_value(dump.reports[0].content.gpus[0].gen_max));
  link.set("cur", to_value(dump.reports[0].content.gpus[0].gen_cur));
  out.set("link", std::move(link));
}

}  // namespace

Value nic_relation_of(const TopoMatrix& topo) {
  Value relation = Value::object();
  for (std::size_t nic = 0; nic < topo.nics.size(); ++nic) {
    Value row = Value::object();
    for (std::size_t gpu = 0; gpu < topo.gpus.size(); ++gpu) {
      row.set(topo.gpus[gpu], to_value(topo.nic_cells[nic][gpu]));
    }
    relation.set(topo.nics[nic], std::move(row));
  }
  return relation;
}

void put_topo_file(const Dump& dump, Value& out) {
  if (!dump.topo) {
    put_missing(out, "topo_m", "no nvidia-smi topo -m");
    put_missing(out, "derived", "no nvidia-smi topo -m");
  } else {
    const TopoMatrix& topo = dump.topo->content;
    Value derived = Value::object();
    derived.set("pcie_switch_groups_by_nic_PIX", groups_by_nic(topo));
    derived.set("pairs_by_links", pairs_by_links(topo));
    out.set("topo_m", topo_value(topo));
    out.set("derived", std::move(derived));
  }
  Value status = Value::object();
  for (const auto& one : dump.peer_status) {
    status.set(stem_of(one.file), to_value(one.content.cells));
  }
  out.set("peer_status", std::move(status));
}

void put_reports(const Dump& dump, Value& out) {
  put(out, "mig_mode", printed_by_all(dump, &SmiGpu::mig));
  put(out, "utilization_gpu", printed_by_all(dump, &SmiGpu::utilization));
  if (const Value* text = out.find("utilization_gpu");
      text->is_text() && says_nothing(text->as_text())) {
    out.set("utilization_gpu_reason",
            "nvidia-smi prints that there is none, as it does with MIG on");
  }
  put_link_of_one(dump, out);
  if (reports_or_table(dump).empty()) {
    put_missing(out, "mig_devices", "no output of nvidia-smi");
  } else {
    out.set("mig_devices", mig_devices_of(reports_or_table(dump).front().content));
  }
  if (dump.reports.empty()) {
    put_missing(out, "per_file", "no output of nvidia-smi -q");
    return;
  }
  Value files = Value::object();
  for (const auto& report : dump.reports)
    files.set(stem_of(report.file), file_value(report.content));
  out.set("per_file", std::move(files));
}

void put_measured(const Dump& dump, Value& out) {
  if (dump.peer_test) out.set("p2p", peer_test_value(dump.peer_test->content));
  if (!dump.peer_test) put_missing(out, "p2p", "no output of p2pBandwidthLatencyTest");
  if (dump.access_control) out.set("acs", access_control_text(dump.access_control->content));
  if (!dump.access_control) put_missing(out, "acs", "no ACSCtl lines of lspci -vvv");
  if (dump.probe) out.set("expected", probe_value(dump.probe->content));
  if (!dump.probe) put_missing(out, "expected", "no probe of NVML's fields");
}

}  // namespace falcon::platform
