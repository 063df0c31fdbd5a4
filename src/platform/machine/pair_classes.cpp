#include "platform/machine/pair_classes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "platform/machine/findings.h"

namespace falcon::platform {
namespace {

using Cells = std::vector<std::vector<std::optional<std::string>>>;

// PHB* leaves open whether it is PHB or NODE.
bool agree(const std::string& a, const std::string& b) {
  const auto covers = [](const std::string& open, const std::string& exact) {
    return open == "PHB*" && (exact == "PHB" || exact == "NODE");
  };
  return a == b || covers(a, b) || covers(b, a);
}

class PcieJoin {
 public:
  PcieJoin(const Dump& dump, Machine& machine)
      : dump_(dump), machine_(machine), count_(machine.gpus.size()) {
    cells_.assign(count_, std::vector<std::optional<std::string>>(count_));
    is_apart_.assign(count_, std::vector<bool>(count_));
    for (std::size_t i = 0; i < count_; ++i) cells_[i][i] = "X";
  }

  void take_trees() {
    for (const PciTree& tree : dump_.trees) {
      if (tree.devices.empty()) continue;
      for (std::size_t i = 0; i < count_; ++i) {
        for (std::size_t j = 0; j < count_; ++j) {
          if (i != j) take_pair(tree, i, j);
        }
      }
    }
  }

  void take_topo(const TopoMatrix& topo, const std::string& file) {
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = 0; j < count_; ++j) {
        const auto& cell = topo.cells[i][j];
        if (i == j || !cell || *cell == "X") continue;
        if (nvlinks_of(*cell) > 0) {
          if (!cells_[i][j]) reason_ = file + ": NVLink hides the PCIe class";
        } else {
          put(i, j, *cell, file);
        }
      }
    }
  }

  Measured<Matrix> result() const {
    return matrix([](std::size_t, std::size_t) { return false; });
  }

  // Enough to group by: "" for pairs that have no switch in common, be they NODE or SYS.
  Measured<Matrix> switches() const {
    return matrix([this](std::size_t i, std::size_t j) { return is_apart_[i][j]; });
  }

 private:
  template <class MayBeOpen>
  Measured<Matrix> matrix(MayBeOpen may_be_open) const {
    Matrix matrix(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = 0; j < count_; ++j) {
        if (!cells_[i][j] && !may_be_open(i, j)) return Measured<Matrix>::missing(reason_);
        matrix[i].push_back(cells_[i][j].value_or(""));
      }
    }
    return matrix;
  }

  void take_pair(const PciTree& tree, std::size_t i, std::size_t j) {
    const PciDevice* a = tree.find(machine_.gpus[i].address);
    const PciDevice* b = tree.find(machine_.gpus[j].address);
    if (a == nullptr || b == nullptr) return;
    if (are_apart(tree, *a, *b)) is_apart_[i][j] = true;
    const Measured<std::string> found = pair_class(tree, *a, *b);
    if (found.has_value()) {
      put(i, j, *found, tree.file);
    } else {
      reason_ = tree.file + ": " + found.reason;
    }
  }

  void put(std::size_t i, std::size_t j, const std::string& found, const std::string& file) {
    auto& cell = cells_[i][j];
    if (!cell) {
      cell = found;
      if (first_file_.empty()) first_file_ = file;
      return;
    }
    if (!agree(*cell, found)) {
      if (!is_reported_) {
        machine_.findings.push_back(sources_disagree(
            "how far GPU " + std::to_string(i) + " and GPU " + std::to_string(j) + " are apart",
            first_file_ + ": " + *cell, file + ": " + found));
      }
      is_reported_ = true;
    } else if (*cell == "PHB*") {
      cell = found;
    }
  }

  const Dump& dump_;
  Machine& machine_;
  std::size_t count_;
  Cells cells_;
  std::vector<std::vector<bool>> is_apart_;
  std::string first_file_;
  std::string reason_ = "no file tells where the GPUs are on PCIe";
  bool is_reported_ = false;
};

// Groups of at least two GPUs that are joined by pairs of the given classes.
Groups groups_by(const Matrix& pcie, std::initializer_list<const char*> classes) {
  std::vector<int> group_of(pcie.size(), -1);
  Groups groups;
  for (std::size_t i = 0; i < pcie.size(); ++i) {
    if (group_of[i] >= 0) continue;
    std::vector<int> members = {static_cast<int>(i)};
    group_of[i] = static_cast<int>(i);
    for (std::size_t next = 0; next < members.size(); ++next) {
      for (std::size_t j = 0; j < pcie.size(); ++j) {
        const std::string& cell = pcie[static_cast<std::size_t>(members[next])][j];
        const bool is_near = std::find(classes.begin(), classes.end(), cell) != classes.end();
        if (group_of[j] >= 0 || !is_near) continue;
        group_of[j] = static_cast<int>(i);
        members.push_back(static_cast<int>(j));
      }
    }
    std::sort(members.begin(), members.end());
    if (members.size() > 1) groups.push_back(std::move(members));
  }
  return groups;
}

// Why these are not the cells of topo -m; "" when they are.
std::string why_open(const Matrix& matrix, const std::string& pcie_reason) {
  for (const auto& row : matrix) {
    for (const std::string& cell : row) {
      if (cell.empty()) return pcie_reason;
      if (cell == "PHB*") return "PHB or NODE: the host bridges are not shown";
    }
  }
  return "";
}

const TopoMatrix* of_all(const Machine& machine, const std::optional<FromFile<TopoMatrix>>& topo) {
  const bool is_whole =
      topo && machine.gpu_count.has_value() && topo->content.gpus.size() == machine.gpus.size();
  return is_whole ? &topo->content : nullptr;
}

}  // namespace

const TopoMatrix* topo_of_all(const Machine& machine, const Dump& dump) {
  return of_all(machine, dump.topo);
}

const TopoMatrix* any_topo_of_all(const Machine& machine, const Dump& dump) {
  const TopoMatrix* topo = topo_of_all(machine, dump);
  return topo != nullptr ? topo : of_all(machine, dump.topo_pcie);
}

void join_pcie_classes(const Dump& dump, Machine& machine) {
  if (!machine.gpu_count.has_value() || machine.gpus.empty()) {
    const std::string why = why_no_gpus(machine);
    machine.pcie = Measured<Matrix>::missing(why);
    machine.switch_groups = machine.switch_groups_near = Measured<Groups>::missing(why);
    return;
  }
  PcieJoin join(dump, machine);
  join.take_trees();
  for (const auto* topo : {&dump.topo_pcie, &dump.topo}) {
    if (const TopoMatrix* matrix = of_all(machine, *topo)) join.take_topo(*matrix, (*topo)->file);
  }
  machine.pcie = join.result();
  const Measured<Matrix> switches = join.switches();
  if (!switches.has_value()) {
    machine.switch_groups = machine.switch_groups_near = Measured<Groups>::missing(switches.reason);
    return;
  }
  machine.switch_groups = groups_by(*switches, {"PIX", "PXB"});
  machine.switch_groups_near = groups_by(*switches, {"PIX"});
}

void join_topo(const Dump& dump, Machine& machine) {
  const std::size_t count = machine.gpus.size();
  if (const TopoMatrix* topo = topo_of_all(machine, dump)) {
    Matrix matrix(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& cell : topo->cells[i]) {
        if (!cell) {
          machine.topo = Measured<Matrix>::missing(dump.topo->file + " has a cell without a class");
          return;
        }
        matrix[i].push_back(*cell);
      }
    }
    machine.topo = std::move(matrix);
    return;
  }
  if (dump.topo && machine.gpu_count.has_value()) {
    machine.topo = Measured<Matrix>::missing(dump.topo->file + " is of another number of GPUs");
    return;
  }
  if (!machine.nvlink.pairs.has_value()) {
    machine.topo = Measured<Matrix>::missing(machine.nvlink.pairs.reason);
    return;
  }
  Matrix matrix =
      machine.pcie.has_value() ? *machine.pcie : Matrix(count, std::vector<std::string>(count));
  for (const auto& [i, j, links] : *machine.nvlink.pairs) {
    const std::string cell = "NV" + std::to_string(links);
    matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = cell;
    matrix[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)] = cell;
  }
  for (std::size_t i = 0; i < count; ++i) matrix[i][i] = "X";
  const std::string why = why_open(matrix, machine.pcie.reason);
  machine.topo = why.empty() ? Measured<Matrix>(std::move(matrix)) : Measured<Matrix>::missing(why);
}

}  // namespace falcon::platform
