#include "base/text.h"
#include "falconbench/errors.h"
#include "platform/dump/lines.h"
#include "platform/dump/read_smi_query.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

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
  gpu.persistence = persistence == "On" ? "Enabled" : "Disabled";
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

}  // namespace

bool is_smi_table(std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return head.find("| NVIDIA-SMI ") != std::string_view::npos &&
         head.find("Driver Version:") != std::string_view::npos;
}

SmiReport read_smi_table(std::string_view text) {
  SmiReport report;
  bool is_second_row = false;
  bool is_closed = false;
  for (const std::string& line : clean_lines(text)) {
    if (line.find("| Processes:") != std::string::npos) break;
    if (const Printed driver = word_after(line, "Driver Version:")) report.driver = driver;
    if (const Printed cuda = word_after(line, "CUDA Version:")) report.cuda = cuda;
    const std::vector<std::string> fields = base::split(line, '|');
    if (is_second_row) take_power(fields, report.gpus.back());
    is_second_row = take_gpu(fields, report);
    is_closed = line.starts_with("+--") || (is_closed && base::trim(line).empty());
  }
  if (!is_closed)
    throw Error(ExitCode::kUsage, "the table of GPUs has no last line: is it cut off?");
  return report;
}

}  // namespace falcon::platform
