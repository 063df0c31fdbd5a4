#include "cli/doctor_page.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace falcon::cli {
namespace {

using base::Value;
using Row = std::vector<std::string>;

std::string cell_text(const Value* value) {
  if (value == nullptr || value->is_null()) return "-";
  if (value->is_text()) return value->as_text();
  if (value->is_bool()) return value->as_bool() ? "yes" : "no";
  if (value->is_number()) return base::number_text(value->as_number());
  std::vector<std::string> parts;
  if (value->is_list()) {
    for (const Value& item : value->as_list()) parts.push_back(cell_text(&item));
  }
  return parts.empty() ? "none" : base::join(parts, " ");
}

// Columns as wide as their widest cell.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += " " + row[i] + std::string(widths[i] - row[i].size() + 1, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string fact(const Value& answers, const char* label, const std::string& name) {
  const Value* value = answers.find(name);
  const Value* reason = answers.find(name + "_reason");
  const bool is_missing = value == nullptr || value->is_null();
  std::string text = is_missing ? "unknown" : cell_text(value);
  if (is_missing && reason != nullptr) text += ": " + reason->as_text();
  return std::string(label) + std::string(18 - std::string(label).size(), ' ') + text + "\n";
}

std::string gpu_table(const Value& answers) {
  const Value* gpus = answers.find("gpu_list");
  const Value* links = answers.find("links");
  if (gpus == nullptr || !gpus->is_list() || gpus->as_list().empty()) return "";
  const Value* nodes = answers.find("numa_affinity");
  std::vector<Row> rows = {
      {"GPU", "address", "NUMA", "place", "link", "at most", "name", "link state"}};
  for (std::size_t i = 0; i < gpus->as_list().size(); ++i) {
    const Value& gpu = gpus->as_list()[i];
    const Value none;
    const Value& state = links->is_list() ? links->as_list()[i] : none;
    const auto link = [&](const char* gen, const char* width) {
      const Value* generation = state.find(gen);
      const bool is_known = generation != nullptr && !generation->is_null();
      return is_known ? "Gen" + cell_text(generation) + " x" + cell_text(state.find(width)) : "-";
    };
    const Value* drawer = gpu.find("drawer");
    std::string place = cell_text(gpu.find("place"));
    if (drawer->is_integer()) place += " " + cell_text(drawer);
    rows.push_back({std::to_string(i), cell_text(gpu.find("busid")),
                    nodes->is_list() ? cell_text(&nodes->as_list()[i]) : "-", place,
                    link("gen_cur", "width_cur"), link("gen_max", "width_max"),
                    cell_text(gpu.find("name")), cell_text(state.find("verdict"))});
  }
  return "\n" + table(rows);
}

std::string matrix_table(const Value& answers, const char* name, const char* title) {
  const Value* matrix = answers.find(name);
  if (matrix == nullptr || !matrix->is_list() || matrix->as_list().size() < 2) return "";
  std::vector<Row> rows = {{"GPU"}};
  for (std::size_t i = 0; i < matrix->as_list().size(); ++i) {
    rows.front().push_back(std::to_string(i));
    Row row = {std::to_string(i)};
    for (const Value& cell : matrix->as_list()[i].as_list()) row.push_back(cell_text(&cell));
    rows.push_back(std::move(row));
  }
  return std::string("\n") + title + "\n" + table(rows);
}

// By where the GPUs are proposed to sit; nothing where that is open.
std::string pair_kinds_table(const Value& answers) {
  const Value* kinds = answers.find("pair_kinds");
  if (kinds == nullptr || !kinds->is_object() || kinds->as_object().empty()) return "";
  std::vector<Row> rows;
  for (const Value::Member& kind : kinds->as_object()) {
    rows.push_back({kind.name, cell_text(&kind.value)});
  }
  return "\nPairs by where the GPUs are proposed to sit (F: in a chassis)\n" + table(rows);
}

std::string groups_line(const Value& answers) {
  const Value* groups = answers.find("switch_groups");
  if (groups == nullptr || !groups->is_list() || groups->as_list().empty()) {
    return fact(answers, "below a switch", "switch_groups");
  }
  std::vector<std::string> parts;
  for (const Value& group : groups->as_list()) parts.push_back("(" + cell_text(&group) + ")");
  return "below a switch    " + base::join(parts, " ") + "\n";
}

std::string drive_table(const Value& answers) {
  const Value* drives = answers.find("nvme");
  if (drives == nullptr || drives->is_null()) return "\n" + fact(answers, "NVMe", "nvme");
  if (drives->is_object()) {
    return "\nNVMe              " + cell_text(drives->find("count")) + " by name, see --json\n";
  }
  if (drives->as_list().empty()) return "\nNVMe              none\n";
  std::vector<Row> rows = {{"drive", "address", "place", "NUMA", "mounts"}};
  for (const Value& drive : drives->as_list()) {
    rows.push_back({cell_text(drive.find("name")), cell_text(drive.find("busid")),
                    cell_text(drive.find("place")), cell_text(drive.find("numa")),
                    cell_text(drive.find("mounts"))});
  }
  return "\n" + table(rows);
}

std::string node_table(const Value& answers) {
  const Value* nodes = answers.find("numa_nodes");
  if (nodes == nullptr || !nodes->is_list()) return fact(answers, "NUMA nodes", "numa_nodes");
  std::vector<Row> rows = {{"node", "CPUs", "size"}};
  for (const Value& node : nodes->as_list()) {
    const Value* memory = node.find("memory_bytes");
    const bool is_known = memory != nullptr && memory->is_number();
    rows.push_back(
        {cell_text(node.find("id")), cell_text(node.find("cpus")),
         is_known ? base::number_text(std::floor(memory->as_number() / 1e9)) + " GB" : "-"});
  }
  return "\n" + table(rows);
}

std::string findings_text(const Value& answers) {
  const Value* findings = answers.find("findings");
  if (findings->as_list().empty()) return "\nNothing is wrong, as far as these sources tell.\n";
  std::string out = "\nWhat is wrong\n";
  for (const Value& finding : findings->as_list()) {
    out += "  " + cell_text(finding.find("message")) + "\n      " +
           cell_text(finding.find("evidence")) + "\n      " + cell_text(finding.find("advice")) +
           "\n";
  }
  return out;
}

std::string sources_text(const Value& answers) {
  std::string out = "Read from";
  const char* separator = " ";
  for (const Value& file : answers.find("files")->as_list()) {
    out += separator + cell_text(file.find("name")) + " (" + cell_text(file.find("kind")) + ")";
    separator = ",\n          ";
  }
  for (const Value& file : answers.find("files_left_out")->as_list()) {
    out += "\nleft out: " + cell_text(file.find("name")) + ": " + cell_text(file.find("reason"));
  }
  return out + "\n";
}

}  // namespace

std::string doctor_page(const Value& answers) {
  std::string page = sources_text(answers) + "\n";
  page += fact(answers, "GPUs", "gpus");
  page += fact(answers, "driver", "driver");
  page += fact(answers, "newest CUDA", "cuda");
  page += fact(answers, "virtual machine", "virtual_machine");
  page += fact(answers, "hypervisor", "hypervisor");
  page += fact(answers, "container", "container");
  page += groups_line(answers);
  page += fact(answers, "links a GPU", "nvlink_links_per_gpu");
  page += fact(answers, "through NVSwitch", "nvlink_via_switch");
  page += fact(answers, "network cards", "nics");
  page += gpu_table(answers);
  page += matrix_table(answers, "topo", "How far apart (as nvidia-smi topo -m)");
  const Value* pcie = answers.find("pcie");
  if (!(*pcie == *answers.find("topo"))) page += matrix_table(answers, "pcie", "On PCIe alone");
  page += pair_kinds_table(answers);
  page += drive_table(answers);
  page += node_table(answers);
  page += findings_text(answers);
  return page;
}

}  // namespace falcon::cli
