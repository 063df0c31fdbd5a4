#include "platform/access_control.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace falcon::platform {
namespace {

constexpr std::size_t kExtendedBegin = 0x100;
constexpr std::uint32_t kAcsId = 0x000D;
constexpr std::size_t kControlOffset = 6;
constexpr std::uint32_t kRedirectBits = 0b1100;  // request, completion
constexpr int kMostCapabilities = 960;           // of 4 bytes in 3840: ends a list that is a ring

std::uint32_t read_little_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count && at + i < bytes.size(); ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

bool redirects(std::string_view config) {
  std::size_t at = kExtendedBegin;
  for (int i = 0; i < kMostCapabilities && at >= kExtendedBegin; ++i) {
    const std::uint32_t header = read_little_endian(config, at, 4);
    if ((header & 0xFFFF) == kAcsId) {
      return (read_little_endian(config, at + kControlOffset, 2) & kRedirectBits) != 0;
    }
    at = header >> 20;  // 0: the last one
  }
  return false;
}

}  // namespace

Measured<std::vector<std::string>> redirecting_bridges(const Root& root,
                                                       const std::vector<std::string>& bridges) {
  using Bridges = Measured<std::vector<std::string>>;
  std::vector<std::string> found;
  for (const std::string& bridge : bridges) {
    const std::string path = "sys/bus/pci/devices/" + bridge + "/config";
    const Measured<std::string> config = root.read(path);
    if (!config.has_value()) return Bridges::missing(config.reason);
    if (config.value->size() <= kExtendedBegin) {
      return Bridges::missing("/" + path +
                              " shows no extended configuration space; reading it "
                              "takes root");
    }
    if (redirects(*config)) found.push_back(bridge);
  }
  return found;
}

}  // namespace falcon::platform
