#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/dump/lines.h"
#include "platform/dump/read_smi_query.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

bool has(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

// "Driver Version: 555.42.02      CUDA Version: 12.5     |"
Printed word_after(const std::string& line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string::npos) return {};
  const std::vector<std::string> words = words_of(std::string_view(line).substr(at + label.size()));
  return words.empty() || words.front() == "|" ? Printed() : Printed(words.front());
}

// "   0  NVIDIA A100-SXM4-80GB          On  " and "   00000000:68:00.0 Off "
bool take_gpu(const std::vector<std::string>& fields, SmiReport& report) {
  if (fields.size() < 4) return false;
  std::vector<std::string> words = words_of(fields[1]);
  const std::vector<std::string> places = words_of(fields[2]);
  if (words.size() < 3 || places.empty() || !leading_number(words.front())) return false;
  if (normal_pci_address(places.front()).empty()) return false;
  SmiGpu gpu;
  gpu.bus_id = places.front();
  const std::string persistence = words.back();
  // Windows has the driver's model there.
  if (persistence == "On") gpu.persistence = "Enabled";
  if (persistence == "Off") gpu.persistence = "Disabled";
  words.erase(words.begin());
  words.pop_back();
  gpu.name = base::join(words, " ");
  if (gpu.name->ends_with("...")) gpu.name.reset();  // cut to the width of its column
  report.gpus.push_back(std::move(gpu));
  return true;
}

// " N/A   25C    P0             59W /  500W "
void take_power(const std::vector<std::string>& fields, SmiGpu& gpu) {
  const std::vector<std::string> words = fields.size() > 1 ? words_of(fields[1]) : words_of("");
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() == 2 && words[i][0] == 'P' && !gpu.pstate) gpu.pstate = words[i];
    if (words[i] != "/" || i + 1 >= words.size()) continue;
    if (const auto limit = leading_number(words[i + 1])) {
      gpu.power_limit = std::to_string(*limit) + ".00 W";
    }
  }
}

// The third row of a GPU ends with its MIG mode: "|   |   |   Disabled |"; drivers before 450 have
// none.
void take_mig(const std::vector<std::string>& fields, SmiGpu& gpu) {
  if (fields.size() < 4) return;
  const std::string_view mode = base::trim(fields[3]);
  if (mode == "Enabled" || mode == "Disabled" || mode == "N/A") gpu.mig = mode;
}

// "|  0    3   0   0  |              12MiB /  5952MiB  | 14      0 |  1   0    1    0    0 |": GPU,
// GPU instance, compute instance, index; memory used and in all; multiprocessors.
void take_mig_device(const std::vector<std::string>& fields, SmiReport& report) {
  if (fields.size() < 5) return;
  const std::vector<std::string> numbers = words_of(fields[1]);
  const std::vector<std::string> memory = words_of(fields[2]);
  const std::vector<std::string> multiprocessors = words_of(fields[3]);
  if (numbers.size() != 4 || memory.size() != 3 || multiprocessors.empty()) return;
  const auto gpu = leading_number(numbers[0]);
  const auto total = leading_number(memory[2]);
  if (!gpu || *gpu < 0 || static_cast<std::size_t>(*gpu) >= report.gpus.size() || !total) return;
  report.gpus[static_cast<std::size_t>(*gpu)].mig_devices.push_back(
      {numbers[3], numbers[1], numbers[2], std::to_string(*total) + " MiB", multiprocessors[0]});
}

}  // namespace

bool begins_smi_table(std::string_view line) {
  return has(line, "| NVIDIA-SMI ") && has(line, "Driver Version:");
}

SmiReport read_smi_table(std::string_view text) {
  SmiReport report;
  int row = 0;  // of a GPU
  bool is_closed = false;
  bool is_whole = false;  // the next table was reached
  bool is_mig = false;
  for (const std::string& line : whole_lines(text)) {
    if (has(line, "| Processes:")) {
      is_whole = true;
      break;
    }
    is_mig = is_mig || has(line, "| MIG devices:");
    if (const Printed driver = word_after(line, "Driver Version:")) report.driver = driver;
    if (const Printed cuda = word_after(line, "CUDA Version:")) report.cuda = cuda;
    const std::vector<std::string> fields = base::split(line, '|');
    if (is_mig) take_mig_device(fields, report);
    if (row == 1) take_power(fields, report.gpus.back());
    if (row == 2) take_mig(fields, report.gpus.back());
    row = take_gpu(fields, report) ? 1 : row == 1 ? 2 : 0;
    if (line.starts_with("+--")) is_closed = true;
    if (line.starts_with("|")) is_closed = false;
  }
  is_whole = is_whole || text.ends_with('\n');
  if (!is_closed || !is_whole || report.gpus.empty())
    throw Error(ExitCode::kUsage, "the table of GPUs has no last line: is it cut off?");
  return report;
}

}  // namespace falcon::platform
