#include "platform/dump/read_nvlink.h"

#include "base/text.h"
#include "platform/dump/lines.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

// "GPU 0: NVIDIA H200 (UUID: GPU-...)"
std::optional<NvlinkGpu> heading(std::string_view line) {
  if (!line.starts_with("GPU ")) return {};
  const std::size_t colon = line.find(": ");
  const std::size_t uuid = line.find(" (UUID");
  const auto index = leading_number(line.substr(4));
  constexpr std::size_t kNone = std::string_view::npos;
  if (colon == kNone || uuid == kNone || uuid < colon || !index) return {};
  NvlinkGpu gpu;
  gpu.index = *index;
  gpu.name = line.substr(colon + 2, uuid - colon - 2);
  return gpu;
}

// "Link 3: 26.562 GB/s", "Link 3: <inactive>", "Link 3: Remote Device 00000000:1A:00.0: Link 2",
// and of -p "Link 3: 00000000:1A:00.0".
void take_link(std::string_view line, NvlinkGpu& gpu) {
  constexpr std::string_view kRemote = "Remote Device ";
  const std::size_t colon = line.find(": ");
  if (!line.starts_with("Link ") || colon == std::string_view::npos) return;
  std::string_view value = base::trim(line.substr(colon + 2));
  const bool is_remote = value.starts_with(kRemote);
  if (is_remote) value = value.substr(kRemote.size(), value.find(": Link") - kRemote.size());
  const auto rate = leading_real(value);
  if (is_remote || !normal_pci_address(std::string(value)).empty()) {
    gpu.remotes.emplace_back(value);
    ++gpu.active;
  } else if (rate && value.ends_with("GB/s")) {
    gpu.gb_per_s.push_back(*rate);
    ++gpu.active;
  } else if (value.starts_with("<inactive")) {
    ++gpu.inactive;
  } else {
    return;
  }
  gpu.tells_links = true;
}

// What NVML says of a GPU none of whose links is on: "Unable to retrieve Nvlink information as all
// links are inActive", or "...: Not Supported" of one without NVLink.
bool says_no_link(std::string_view line) {
  return line.find("Unable to retrieve N") != std::string_view::npos &&
         (line.find("all links are inActive") != std::string_view::npos ||
          line.ends_with("Not Supported"));
}

}  // namespace

bool begins_nvlink_list(std::string_view line) {
  return heading(line).has_value();
}

std::vector<NvlinkGpu> read_nvlink(std::string_view text) {
  std::vector<NvlinkGpu> gpus;
  for (const std::string& line : clean_lines(text)) {
    if (auto gpu = heading(line)) {
      gpus.push_back(*std::move(gpu));
    } else if (!gpus.empty() && says_no_link(base::trim(line))) {
      gpus.back().tells_links = true;
    } else if (!gpus.empty()) {
      take_link(base::trim(line), gpus.back());
    }
  }
  return gpus;
}

}  // namespace falcon::platform
