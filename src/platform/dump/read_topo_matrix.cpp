#include "platform/dump/read_topo_matrix.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/dump/lines.h"

namespace falcon::platform {
namespace {

using Cell = std::optional<std::string>;

bool is_gpu_name(std::string_view word) {
  return word.starts_with("GPU") && word.size() > 3 &&
         word.find_first_not_of("0123456789", 3) == std::string_view::npos;
}

Cell class_cell(const std::string& word) {
  static constexpr std::array<std::string_view, 6> kClasses = {"X",   "SYS", "NODE",
                                                               "PHB", "PXB", "PIX"};
  if (word == "SOC") return "SYS";  // its name in drivers before 396
  const bool is_known = std::find(kClasses.begin(), kClasses.end(), word) != kClasses.end();
  return is_known || nvlinks_of(word) > 0 ? Cell(word) : Cell();
}

Cell peer_cell(const std::string& word) {
  static constexpr std::array<std::string_view, 8> kStates = {"X",   "OK", "CNS", "GNS",
                                                              "TNS", "DR", "NS",  "U"};
  return std::find(kStates.begin(), kStates.end(), word) != kStates.end() ? Cell(word) : Cell();
}

// Classes that a line lost the blanks between: "NODEPIX" -> "NODE", "PIX". Nothing else is split.
std::vector<std::string> split_cells(std::string_view word) {
  std::vector<std::string> cells;
  while (!word.empty()) {
    std::size_t length = std::min<std::size_t>(word.size(), 5);
    while (length > 0 && !class_cell(std::string(word.substr(0, length)))) --length;
    if (length == 0) return {};
    cells.emplace_back(word.substr(0, length));
    word.remove_prefix(length);
  }
  return cells;
}

struct Header {
  std::vector<std::string> columns;  // that hold cells: all up to "CPU Affinity"
  std::size_t affinities = 0;        // columns after them
  std::size_t cpus_at = 0;           // where "CPU Affinity" begins
  bool has_numa = false;
};

std::optional<Header> header_of(std::string_view line) {
  std::string text(line);
  std::replace(text.begin(), text.end(), '|', ' ');
  std::vector<std::string> words = words_of(text);
  if (words.empty() || !is_gpu_name(words.front())) return {};
  // A row has a cell there.
  if (words.size() > 1 && (class_cell(words[1]) || peer_cell(words[1]))) return {};
  const auto affinity = std::find(words.begin(), words.end(), "CPU");
  // Alone it would be a row that is cut off.
  if (affinity == words.end() && words.size() == 1 && text.starts_with("GPU")) return {};
  const bool are_devices = std::all_of(words.begin(), affinity, [](const std::string& word) {
    return word.find_first_of("0123456789") != std::string::npos;
  });
  if (!are_devices) return {};  // prose
  Header header;
  for (const char* title : {"CPU Affinity", "NUMA Affinity", "GPU NUMA ID"}) {
    if (text.find(title) != std::string::npos) ++header.affinities;
  }
  header.has_numa = text.find("NUMA Affinity") != std::string::npos;
  header.cpus_at = text.find("CPU Affinity");
  header.columns.assign(words.begin(), affinity);
  return header;
}

// A header that lost a part names other columns than the rows have.
void check_header(const Header& header, const TopoMatrix& matrix) {
  const std::set<std::string> names(header.columns.begin(), header.columns.end());
  bool is_whole = names.size() == header.columns.size();
  for (std::size_t i = 0; i < matrix.gpus.size(); ++i) {
    is_whole = is_whole && matrix.gpus[i] == "GPU" + std::to_string(i);
  }
  if (!is_whole) throw Error(ExitCode::kUsage, "the header does not name GPU0, GPU1, ... in order");
}

struct Row {
  std::string name;
  std::vector<std::string> cells;
  std::vector<std::string> rest;  // affinities; "" for one that is empty
  bool is_clear = true;           // false: which of the affinities are empty is not shown
};

// Cells are never empty: two tabs between them are somebody's alignment. After them an empty field
// is an empty affinity, unless there are enough others.
Row row_between_tabs(const std::string& line, const Header& header) {
  Row row;
  std::vector<std::string> rest;
  for (const std::string& part : base::split(line, '\t')) {
    const std::string field(base::trim(part));
    if (row.name.empty()) {
      row.name = field;
    } else if (row.cells.size() < header.columns.size()) {
      if (!field.empty()) row.cells.push_back(field);
    } else {
      row.rest.push_back(field);
      if (!field.empty()) rest.push_back(field);
    }
  }
  if (rest.size() >= header.affinities) row.rest = rest;
  return row;
}

// With cells that were glued together apart again, where there are too few words.
std::vector<std::string> complete_words(std::vector<std::string> words, std::size_t count) {
  for (std::size_t i = 1; i < words.size() && words.size() < count; ++i) {
    const std::vector<std::string> cells = split_cells(words[i]);
    if (cells.size() < 2) continue;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), cells.begin(), cells.end());
  }
  return words;
}

// Runs of blanks hide which affinity is empty; the place of the first that is not may tell.
Row row_between_blanks(const std::string& line, const Header& header) {
  const std::size_t count = header.columns.size();
  const std::vector<std::string> words =
      complete_words(words_of(line), count + 1 + header.affinities);
  Row row;
  if (words.empty()) return row;
  row.name = words.front();
  const std::size_t end = std::min(count + 1, words.size());
  row.cells.assign(words.begin() + 1, words.begin() + static_cast<std::ptrdiff_t>(end));
  row.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(end), words.end());
  if (row.rest.size() >= header.affinities || row.rest.empty()) return row;
  std::size_t at = line.size();
  for (std::size_t i = row.rest.size(); i-- > 0;) at = line.rfind(row.rest[i], at - 1);
  const bool has_cpus = at == header.cpus_at;
  row.is_clear = !has_cpus && row.rest.size() + 1 == header.affinities;
  if (!has_cpus) row.rest.insert(row.rest.begin(), "");
  return row;
}

// A row of a Markdown table is one with blanks.
Row row_of(std::string line, const Header& header) {
  if (base::trim(line).starts_with('|')) std::replace(line.begin(), line.end(), '|', ' ');
  return line.find('\t') != std::string::npos ? row_between_tabs(line, header)
                                              : row_between_blanks(line, header);
}

// "0-31,64-95" or "N/A"
Cell affinity(const Row& row, std::size_t at) {
  if (at >= row.rest.size() || row.rest[at].empty()) return {};
  const bool is_list = row.rest[at].find_first_not_of("0123456789,-") == std::string::npos;
  return is_list ? Cell(row.rest[at]) : Cell();
}

// With `is_open` the row ends where the text does: its last field may be a part of one.
void take_row(const Row& row, bool is_open, const Header& header, TopoMatrix& matrix) {
  const std::size_t count = header.columns.size();
  const bool has_more = !row.rest.empty() && class_cell(row.rest.front());
  if (row.cells.size() < count || has_more || (is_open && row.rest.empty())) {
    throw Error(ExitCode::kUsage, "the row of " + row.name + " has " +
                                      std::to_string(row.cells.size() + row.rest.size()) +
                                      " cells for " + std::to_string(count) +
                                      " columns: is it cut off?");
  }
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < count; ++i) {
    Cell cell = matrix.is_peer_status ? peer_cell(row.cells[i]) : class_cell(row.cells[i]);
    if (is_gpu_name(header.columns[i])) {
      cells.push_back(std::move(cell));
    } else {
      const auto nic = std::find(matrix.nics.begin(), matrix.nics.end(), header.columns[i]);
      matrix.nic_cells[static_cast<std::size_t>(nic - matrix.nics.begin())].push_back(
          std::move(cell));
    }
  }
  matrix.cells.push_back(std::move(cells));
  matrix.cpu_affinity.push_back(is_open ? Cell() : affinity(row, 0));
  const bool knows_numa = header.has_numa && row.is_clear && !is_open;
  matrix.numa_affinity.push_back(knows_numa ? affinity(row, 1) : Cell());
}

void check_rows(std::size_t rows, const TopoMatrix& matrix) {
  std::size_t whole = 0;
  while (whole < matrix.cells.size() && matrix.cells[whole][whole] == "X") ++whole;
  if (whole != matrix.gpus.size() || rows != whole || whole == 0) {
    throw Error(ExitCode::kUsage, "has " + std::to_string(whole) + " whole rows for " +
                                      std::to_string(matrix.gpus.size()) + " GPUs: is it cut off?");
  }
}

bool has_nvlink(const TopoMatrix& matrix) {
  return std::any_of(matrix.cells.begin(), matrix.cells.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(),
                       [](const Cell& cell) { return cell && nvlinks_of(*cell) > 0; });
  });
}

// The meanings of the classes, which nvidia-smi prints below the matrix.
class Legend {
 public:
  void read(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 3 || words[1] != "=") return;
    is_there_ = true;
    has_nvlink_ = has_nvlink_ || words[0] == "NV#";
    is_old_ = is_old_ || words[0] == "SOC";
  }

  // -mp does not explain NVLink, which all but the oldest drivers do otherwise.
  bool may_leave_nvlink_out(bool is_cut) const {
    return (is_there_ || is_cut) && !has_nvlink_ && !is_old_;
  }

 private:
  bool is_there_ = false;
  bool has_nvlink_ = false;
  bool is_old_ = false;
};

}  // namespace

int nvlinks_of(std::string_view cell) {
  if (!cell.starts_with("NV") || cell.size() > 5) return 0;
  const std::string_view digits = cell.substr(2);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return 0;
  return leading_number(digits).value_or(0);
}

bool begins_topo_matrix(std::string_view line) {
  return header_of(line).has_value();
}

TopoMatrix read_topo_matrix(std::string_view text) {
  const std::vector<std::string> lines = clean_lines(text);
  const auto first = std::find_if(lines.begin(), lines.end(), begins_topo_matrix);
  if (first == lines.end()) throw Error(ExitCode::kUsage, "is no matrix of nvidia-smi topo");
  const Header header = *header_of(*first);
  TopoMatrix matrix;
  for (const std::string& name : header.columns) {
    (is_gpu_name(name) ? matrix.gpus : matrix.nics).push_back(name);
  }
  check_header(header, matrix);
  matrix.nic_cells.resize(matrix.nics.size());
  std::size_t rows = 0;
  Legend legend;
  for (auto line = first + 1; line != lines.end(); ++line) {
    legend.read(*line);
    const Row row = row_of(*line, header);
    if (!is_gpu_name(row.name)) continue;
    if (matrix.cells.empty()) {
      const auto cell = std::find_if(row.cells.begin(), row.cells.end(),
                                     [](const std::string& word) { return word != "X"; });
      matrix.is_peer_status = cell != row.cells.end() && !class_cell(*cell) && peer_cell(*cell);
    }
    if (++rows > matrix.gpus.size()) continue;
    const bool is_open = line + 1 == lines.end() && !text.ends_with('\n');
    take_row(row, is_open, header, matrix);
  }
  check_rows(rows, matrix);
  matrix.is_pcie_only = !matrix.is_peer_status && !has_nvlink(matrix) &&
                        legend.may_leave_nvlink_out(!text.ends_with('\n'));

  return matrix;
}

}  // namespace falcon::platform
