#include "falconbench/errors.h"

#include "base/text.h"

namespace falcon {
namespace {

std::string all_lines(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    if (!text.empty()) text += '\n';
    text += to_text(fault);
  }
  return text;
}

}  // namespace

std::string to_text(const Fault& fault) {
  std::string text = base::printable(fault.source, 400);
  if (fault.line > 0) text += ":" + std::to_string(fault.line);
  if (fault.column > 0) text += ":" + std::to_string(fault.column);
  if (!fault.key.empty()) text += ": " + base::printable(fault.key, 120);
  return text + ": " + fault.message;
}

InputError::InputError(std::vector<Fault> faults)
    : Error(ExitCode::kUsage, all_lines(faults)), faults_(std::move(faults)) {}

}  // namespace falcon
