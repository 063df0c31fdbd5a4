#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "platform/machine/answers_parts.h"

namespace falcon::platform {
namespace {

using base::Value;

std::string joined(const std::set<std::string>& words) {
  return base::join(std::vector<std::string>(words.begin(), words.end()), " or ");
}

Value classes_of(const Machine& machine) {
  std::map<std::string, Value> classes = {{"local", Value::list()}, {"falcon", Value::list()}};
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const MachineGpu& gpu = machine.gpus[i];
    const int number = static_cast<int>(i);
    classes[*gpu.place].push_back(number);
    if (!gpu.drawer.has_value()) continue;
    const std::string name = "falcon_drawer" + std::to_string(*gpu.drawer);
    classes.emplace(name, Value::list()).first->second.push_back(number);
  }
  Value out = Value::object();
  for (auto& [name, list] : classes) out.set(name, std::move(list));
  return out;
}

std::string pair_kind(const MachineGpu& a, const MachineGpu& b, const std::string& cell) {
  if (a.place != b.place) return "L-F";
  if (*a.place == "local") return cell.starts_with("NV") ? "L-L with NVLink" : "L-L without NVLink";
  return a.drawer == b.drawer ? "F-F same drawer" : "F-F across drawers";
}

Value pair_kinds_of(const Machine& machine) {
  std::map<std::string, std::set<std::string>> kinds;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < machine.gpus.size(); ++j) {
      const std::string& cell = (*machine.topo)[i][j];
      kinds[pair_kind(machine.gpus[i], machine.gpus[j], cell)].insert(cell);
    }
  }
  Value out = Value::object();
  for (const auto& [kind, cells] : kinds) out.set(kind, joined(cells));
  return out;
}

}  // namespace

void put_places(const Machine& machine, Value& out) {
  const bool is_known = !machine.gpus.empty() && machine.gpus.front().place.has_value();
  const std::string why =
      machine.gpus.empty() ? why_no_gpus(machine) : machine.gpus.front().place.reason;
  if (!is_known) {
    for (const char* name : {"classes", "pair_kinds", "host_links"}) put_missing(out, name, why);
    return;
  }
  out.set("classes", classes_of(machine));
  if (machine.topo.has_value()) out.set("pair_kinds", pair_kinds_of(machine));
  if (!machine.topo.has_value()) put_missing(out, "pair_kinds", machine.topo.reason);
  Value links = Value::list();
  for (const HostLink& link : machine.host_links) {
    Value one = Value::object();
    one.set("drawer", link.drawer);
    one.set("root_port", link.root_port);
    one.set("switch_upstream", link.switch_upstream);
    put(one, "gen", link.gen);
    put(one, "width", link.width);
    put(one, "numa", link.numa_node);
    links.push_back(std::move(one));
  }
  out.set("host_links", std::move(links));
}

}  // namespace falcon::platform
