#include "platform/process_usage.h"

#include <string>
#include <vector>

#include <unistd.h>

#include "base/text.h"

namespace falcon::platform {
namespace {

// Places in /proc/PID/stat, counted from the state, the first word after the name in parentheses
// (proc(5) counts from 1, the state is 3).
constexpr std::size_t kMinorFaults = 10 - 3;
constexpr std::size_t kMajorFaults = 12 - 3;
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kResidentPages = 24 - 3;

std::vector<std::string> words_after_name(const std::string& stat) {
  // The name may hold blanks and parentheses: the last one ends it.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 > stat.size()) return {};
  return base::split(std::string_view(stat).substr(name_end + 2), ' ');
}

}  // namespace

ProcessUsage process_usage(const Root& root, std::int64_t pid) {
  const std::string path = "proc/" + std::to_string(pid) + "/stat";
  const auto text = root.read(path);
  ProcessUsage usage;
  std::string reason = text.reason;
  if (text.has_value()) {
    reason = "/" + path + " is cut short";
    const std::vector<std::string> words = words_after_name(*text);
    if (words.size() > kResidentPages) {
      const auto user = parse_integer(words[kUserTicks]);
      const auto system = parse_integer(words[kSystemTicks]);
      const auto pages = parse_integer(words[kResidentPages]);
      const auto minor = parse_integer(words[kMinorFaults]);
      const auto major = parse_integer(words[kMajorFaults]);
      if (user.has_value() && system.has_value() && pages.has_value() && minor.has_value() &&
          major.has_value()) {
        usage.cpu_s =
            static_cast<double>(*user + *system) / static_cast<double>(sysconf(_SC_CLK_TCK));
        usage.rss_bytes = *pages * sysconf(_SC_PAGESIZE);
        usage.page_faults = *minor + *major;
        usage.major_page_faults = *major;
        return usage;
      }
    }
  }
  usage.cpu_s = Measured<double>::missing(reason);
  usage.rss_bytes = usage.page_faults = usage.major_page_faults =
      Measured<std::int64_t>::missing(reason);
  return usage;
}

ProcessTraffic process_traffic(const Root& root, std::int64_t pid) {
  const auto io = root.read("proc/" + std::to_string(pid) + "/io");
  if (io.has_value()) {
    return {number_after(*io, "read_bytes:"), number_after(*io, "write_bytes:")};
  }
  const auto none = Measured<std::int64_t>::missing(io.reason);
  return {none, none};
}

}  // namespace falcon::platform
