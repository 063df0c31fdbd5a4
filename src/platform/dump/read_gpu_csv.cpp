#include "platform/dump/read_gpu_csv.h"

#include <algorithm>

#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/dump/lines.h"
#include "platform/dump/read_smi_query.h"

namespace falcon::platform {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (const std::string& field : base::split(line, ',')) fields.emplace_back(base::trim(field));
  return fields;
}

// "power.limit [W]" is the column power.limit.
std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns = fields_of(line);
  for (std::string& column : columns) column = column.substr(0, column.find(" ["));
  return columns;
}

class Row {
 public:
  Row(const std::vector<std::string>& columns, const std::vector<std::string>& fields)
      : columns_(columns), fields_(fields) {}

  std::string text(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      const auto column = std::find(columns_.begin(), columns_.end(), name);
      if (column == columns_.end()) continue;
      const std::string& value = fields_[static_cast<std::size_t>(column - columns_.begin())];
      return says_nothing(value) ? "" : value;
    }
    return "";
  }
  std::optional<int> number(std::initializer_list<std::string_view> names) const {
    return leading_number(text(names));
  }

 private:
  const std::vector<std::string>& columns_;
  const std::vector<std::string>& fields_;
};

CsvGpu gpu_of(const Row& row) {
  CsvGpu gpu;
  gpu.index = row.number({"index"});
  gpu.bus_id = row.text({"pci.bus_id", "gpu_bus_id"});
  gpu.name = row.text({"name", "gpu_name"});
  gpu.uuid = row.text({"uuid", "gpu_uuid"});
  gpu.gen_max = row.number({"pcie.link.gen.max"});
  gpu.gen_cur = row.number({"pcie.link.gen.current", "pcie.link.gen.gpucurrent"});
  gpu.width_max = row.number({"pcie.link.width.max"});
  gpu.width_cur = row.number({"pcie.link.width.current"});
  gpu.power_limit_w = leading_real(row.text({"power.limit", "enforced.power.limit"}));
  return gpu;
}

bool is_same(const CsvGpu& a, const CsvGpu& b) {
  if (a.index && b.index) return a.index == b.index;
  return !a.bus_id.empty() && a.bus_id == b.bus_id;
}

}  // namespace

bool begins_gpu_csv(std::string_view line) {
  const std::vector<std::string> columns = columns_of(std::string(line));
  const auto has = [&](const char* name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  return columns.size() > 1 && (has("index") || has("pci.bus_id") || has("gpu_bus_id"));
}

std::vector<CsvGpu> read_gpu_csv(std::string_view text) {
  const std::vector<std::string> lines = clean_lines(text);
  const std::vector<std::string> columns = columns_of(lines.front());
  std::vector<CsvGpu> gpus;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (base::trim(lines[i]).empty()) continue;
    const std::vector<std::string> fields = fields_of(lines[i]);
    if (fields.size() != columns.size()) {
      throw Error(ExitCode::kUsage,
                  "line " + std::to_string(i + 1) + " has " + std::to_string(fields.size()) +
                      " fields for " + std::to_string(columns.size()) + " columns: is it cut off?");
    }
    CsvGpu gpu = gpu_of(Row(columns, fields));
    const auto known = std::find_if(gpus.begin(), gpus.end(),
                                    [&](const CsvGpu& other) { return is_same(gpu, other); });
    if (known == gpus.end()) {
      gpus.push_back(std::move(gpu));
    } else {
      known->gen_cur = std::max(known->gen_cur, gpu.gen_cur);
    }
  }
  if (gpus.empty()) throw Error(ExitCode::kUsage, "has names of columns, but no GPU");
  return gpus;
}

}  // namespace falcon::platform
