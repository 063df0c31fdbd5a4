#include "platform/visible_devices.h"

#include <algorithm>

#include "base/text.h"
#include "platform/root.h"

namespace falcon::platform {
namespace {

std::string setting_text(const Environment& environment) {
  return std::string(kVisibleDevices) + "=" + base::printable(environment.at(kVisibleDevices));
}

bool is_uuid(std::string_view word) {
  return word.starts_with("GPU-") || word.starts_with("gpu-");
}

// CUDA takes a beginning of a UUID when only one GPU has it.
std::optional<std::size_t> find_by_uuid(const std::vector<Gpu>& gpus, const std::string& word) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string& uuid = gpus[i].uuid;
    const bool is_match =
        uuid.size() >= word.size() && std::equal(word.begin() + 4, word.end(), uuid.begin() + 4);
    if (!is_match) continue;
    if (found) return {};
    found = i;
  }
  return found;
}

}  // namespace

std::optional<std::vector<std::size_t>> visible_gpus(const std::vector<Gpu>& gpus,
                                                     const Environment& environment) {
  std::vector<std::size_t> visible;
  const auto setting = environment.find(kVisibleDevices);
  if (setting == environment.end()) {
    for (std::size_t i = 0; i < gpus.size(); ++i) visible.push_back(i);
    return visible;
  }
  const auto order = environment.find("CUDA_DEVICE_ORDER");
  const bool is_pci_order =
      gpus.size() == 1 || (order != environment.end() && order->second == "PCI_BUS_ID");
  for (const std::string& part : base::split(setting->second, ',')) {
    const std::string word(base::trim(part));
    if (word.starts_with("MIG-")) return {};
    std::optional<std::size_t> index;
    if (is_uuid(word)) {
      index = find_by_uuid(gpus, word);
    } else if (const auto number = parse_integer(word); number.has_value() && *number >= 0) {
      if (!is_pci_order) return {};
      if (*number < static_cast<std::int64_t>(gpus.size())) {
        index = static_cast<std::size_t>(*number);
      }
    }
    if (!index) break;
    visible.push_back(*index);
  }
  std::sort(visible.begin(), visible.end());
  visible.erase(std::unique(visible.begin(), visible.end()), visible.end());
  return visible;
}

void hide_invisible_gpus(Host& host, const Environment& environment) {
  if (!environment.contains(kVisibleDevices) || host.gpus.empty()) return;
  const auto visible = visible_gpus(host.gpus, environment);
  if (!visible) {
    host.notes.push_back(undecided_note(environment));
    return;
  }
  const std::size_t all = host.gpus.size();
  if (visible->size() == all) return;
  std::vector<Gpu> kept;
  for (const std::size_t i : *visible) kept.push_back(std::move(host.gpus[i]));
  host.gpus = std::move(kept);
  host.notes.push_back(hidden_note(environment, host.gpus.size(), all));
}

bool needs_cuda(const Host& host) {
  if (!host.environment.contains(kVisibleDevices)) return false;
  const std::string note = undecided_note(host.environment);
  return std::find(host.notes.begin(), host.notes.end(), note) != host.notes.end();
}

std::string undecided_note(const Environment& environment) {
  return setting_text(environment) +
         " names GPUs as CUDA counts them: only CUDA can tell which are meant";
}

std::string hidden_note(const Environment& environment, std::size_t shown, std::size_t all) {
  return setting_text(environment) + " hides " + std::to_string(all - shown) + " of " +
         std::to_string(all) + " GPUs";
}

}  // namespace falcon::platform
