#include "platform/dump/read_nvlink.h"

#include "base/text.h"
#include "platform/dump/lines.h"

namespace falcon::platform {
namespace {

// "GPU 0: NVIDIA H200 (UUID: GPU-...)"
std::optional<NvlinkGpu> heading(const std::string& line) {
  if (!line.starts_with("GPU ")) return {};
  const std::size_t colon = line.find(": ");
  const std::size_t uuid = line.find(" (UUID");
  const auto index = leading_number(std::string_view(line).substr(4));
  if (colon == std::string::npos || uuid == std::string::npos || uuid < colon || !index) return {};
  NvlinkGpu gpu;
  gpu.index = *index;
  gpu.name = line.substr(colon + 2, uuid - colon - 2);
  return gpu;
}

// "Link 3: 26.562 GB/s", "Link 3: <inactive>", "Link 3: Remote Device 00000000:1A:00.0: Link 2"
void take_link(std::string_view line, NvlinkGpu& gpu) {
  constexpr std::string_view kRemote = "Remote Device ";
  const std::size_t colon = line.find(": ");
  if (!line.starts_with("Link ") || colon == std::string_view::npos) return;
  const std::string_view value = base::trim(line.substr(colon + 2));
  if (value.starts_with(kRemote)) {
    const std::string_view rest = value.substr(kRemote.size());
    gpu.remotes.emplace_back(rest.substr(0, rest.find(": Link")));
    ++gpu.active;
  } else if (const auto rate = leading_real(value)) {
    gpu.gb_per_s.push_back(*rate);
    ++gpu.active;
  } else if (value.starts_with("<inactive")) {
    ++gpu.inactive;
  }
}

}  // namespace

bool is_nvlink_list(std::string_view text) {
  for (const std::string& line : clean_lines(text.substr(0, 4096))) {
    if (!base::trim(line).empty()) return heading(line).has_value();
  }
  return false;
}

std::vector<NvlinkGpu> read_nvlink(std::string_view text) {
  std::vector<NvlinkGpu> gpus;
  for (const std::string& line : clean_lines(text)) {
    if (auto gpu = heading(line)) {
      gpus.push_back(*std::move(gpu));
    } else if (!gpus.empty()) {
      take_link(base::trim(line), gpus.back());
    }
  }
  return gpus;
}

}  // namespace falcon::platform
