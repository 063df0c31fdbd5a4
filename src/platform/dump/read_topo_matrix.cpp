#include "platform/dump/read_topo_matrix.h"

#include <algorithm>
#include <array>
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

// Names of the columns that hold cells: all up to "CPU Affinity".
std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string> words = words_of(line);
  if (words.empty() || !is_gpu_name(words.front())) return {};
  const auto affinity = std::find(words.begin(), words.end(), "CPU");
  if (affinity == words.end() && line.find(words.front()) == 0) return {};  // a row, not the header
  words.erase(affinity, words.end());
  return words;
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

// Name, cells and what follows them. Empty fields between tabs stay, runs of blanks do not.
std::vector<std::string> fields_of(const std::string& line) {
  if (line.find('\t') == std::string::npos) return words_of(line);
  std::vector<std::string> fields;
  for (const std::string& field : base::split(line, '\t')) fields.emplace_back(base::trim(field));
  return fields;
}

Cell affinity(const std::vector<std::string>& fields, std::size_t at) {
  if (at >= fields.size() || fields[at].empty() || fields[at] == "N/A") return {};
  return fields[at];
}

struct Header {
  std::size_t line = 0;
  std::vector<std::string> columns;
  bool has_numa = false;
};

std::optional<Header> find_header(const std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (base::trim(lines[i]).empty()) continue;
    Header header{i, columns_of(lines[i]), lines[i].find("NUMA Affinity") != std::string::npos};
    if (!header.columns.empty()) return header;
  }
  return {};
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

void take_row(const std::vector<std::string>& fields, const Header& header, TopoMatrix& matrix) {
  const std::size_t count = header.columns.size();
  if (fields.size() < count + 1) {
    throw Error(ExitCode::kUsage, "the row of " + fields.front() + " has " +
                                      std::to_string(fields.size() - 1) + " cells for " +
                                      std::to_string(count) + " columns: is it cut off?");
  }
  std::vector<Cell> row;
  for (std::size_t i = 0; i < count; ++i) {
    Cell cell = matrix.is_peer_status ? peer_cell(fields[i + 1]) : class_cell(fields[i + 1]);
    if (is_gpu_name(header.columns[i])) {
      row.push_back(std::move(cell));
    } else {
      const auto nic = std::find(matrix.nics.begin(), matrix.nics.end(), header.columns[i]);
      matrix.nic_cells[static_cast<std::size_t>(nic - matrix.nics.begin())].push_back(
          std::move(cell));
    }
  }
  matrix.cells.push_back(std::move(row));
  matrix.cpu_affinity.push_back(affinity(fields, count + 1));
  matrix.numa_affinity.push_back(header.has_numa ? affinity(fields, count + 2) : Cell());
}

}  // namespace

int nvlinks_of(std::string_view cell) {
  if (!cell.starts_with("NV") || cell.size() > 5) return 0;
  const std::string_view digits = cell.substr(2);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return 0;
  return leading_number(digits).value_or(0);
}

bool is_topo_matrix(std::string_view text) {
  return find_header(clean_lines(text)).has_value();
}

TopoMatrix read_topo_matrix(std::string_view text) {
  const std::vector<std::string> lines = clean_lines(text);
  const std::optional<Header> header = find_header(lines);
  if (!header) throw Error(ExitCode::kUsage, "is no matrix of nvidia-smi topo");
  TopoMatrix matrix;
  for (const std::string& name : header->columns) {
    (is_gpu_name(name) ? matrix.gpus : matrix.nics).push_back(name);
  }
  check_header(*header, matrix);
  matrix.nic_cells.resize(matrix.nics.size());
  std::size_t rows = 0;
  for (std::size_t i = header->line + 1; i < lines.size(); ++i) {
    const std::vector<std::string> fields = fields_of(lines[i]);
    if (fields.empty() || !is_gpu_name(fields.front())) continue;
    if (matrix.cells.empty()) {
      const auto cell = std::find_if(fields.begin() + 1, fields.end(),
                                     [](const std::string& word) { return word != "X"; });
      matrix.is_peer_status = cell != fields.end() && !class_cell(*cell) && peer_cell(*cell);
    }
    if (++rows <= matrix.gpus.size()) take_row(fields, *header, matrix);
  }
  const auto is_whole = [&](std::size_t i) { return matrix.cells[i][i] == "X"; };
  std::size_t whole = 0;
  while (whole < matrix.cells.size() && is_whole(whole)) ++whole;
  if (whole != matrix.gpus.size() || rows != whole || whole == 0) {
    throw Error(ExitCode::kUsage, "has " + std::to_string(whole) + " whole rows for " +
                                      std::to_string(matrix.gpus.size()) + " GPUs: is it cut off?");
  }
  return matrix;
}

}  // namespace falcon::platform
