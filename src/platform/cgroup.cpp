#include "platform/cgroup.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"

namespace falcon::platform {
namespace {

// Version 1 writes "no limit" as the largest multiple of the page size; no machine has 1 EiB.
constexpr std::int64_t kNoMemoryLimit = std::int64_t{1} << 60;

struct Mount {
  std::string point;  // below the root, without leading slash
  std::string shown;  // the group that is mounted there
  bool is_version2 = false;
  std::string controllers;  // version 1: ",cpu,cpuacct,"
};

// A line of mountinfo: 36 25 0:32 /group /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu
std::vector<Mount> cgroup_mounts(const Root& root) {
  std::vector<Mount> mounts;
  const Measured<std::string> text = root.read("proc/self/mountinfo");
  if (text.has_value()) {
    for (const std::string& line : base::split(*text, '\n')) {
      const std::vector<std::string> words = base::split(line, ' ');
      const auto dash = std::find(words.begin(), words.end(), "-");
      if (words.size() < 6 || words.end() - dash < 4) continue;
      const std::string& type = *(dash + 1);
      if (type != "cgroup" && type != "cgroup2") continue;
      mounts.push_back({words[4].substr(1), words[3], type == "cgroup2", "," + *(dash + 3) + ","});
    }
  }
  if (mounts.empty()) {
    if (root.exists("sys/fs/cgroup/cgroup.controllers")) {
      return {{"sys/fs/cgroup", "/", true, ""}};
    }
    for (const std::string& name : root.names("sys/fs/cgroup")) {
      Mount mount{"sys/fs/cgroup/" + name, "/", name == "unified", ","};
      mount.controllers.append(name).append(",");
      mounts.push_back(std::move(mount));
    }
  }
  return mounts;
}

struct Membership {
  std::string controllers;  // ",cpu,cpuacct,"; ",," is version 2
  std::string path;
};

std::vector<Membership> memberships(const Root& root) {
  std::vector<Membership> out;
  const Measured<std::string> text = root.read("proc/self/cgroup");
  if (!text.has_value()) return out;
  for (const std::string& line : base::split(*text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    out.push_back(
        {"," + line.substr(first + 1, second - first - 1) + ",", line.substr(second + 1)});
  }
  return out;
}

// The group's path below the mount. A container often sees its own group mounted as the top while
// /proc/self/cgroup still names the path from the host's top (or one that begins with /..).
std::string path_below(const Mount& mount, const std::string& group) {
  if (group.find("/..") != std::string::npos) return "";
  if (mount.shown == "/") return group == "/" ? "" : group;
  if (group == mount.shown) return "";
  if (group.starts_with(mount.shown + "/")) return group.substr(mount.shown.size());
  return "";
}

// Folders of the group and of all groups around it, innermost first.
std::vector<std::string> group_folders(const Root& root, const std::string& controller) {
  const std::vector<Mount> mounts = cgroup_mounts(root);
  std::vector<std::string> folders;
  for (const Membership& member : memberships(root)) {
    const bool is_version2 = member.controllers == ",,";
    if (!is_version2 && member.controllers.find(controller) == std::string::npos) continue;
    for (const Mount& mount : mounts) {
      if (mount.is_version2 != is_version2) continue;
      if (!is_version2 && mount.controllers.find(controller) == std::string::npos) continue;
      std::string below = path_below(mount, member.path);
      while (true) {
        folders.push_back(mount.point + below);
        if (below.empty()) break;
        below.resize(below.rfind('/'));
      }
    }
  }
  return folders;
}

// CPUs of one group; nothing when the group has no quota. `is_seen` tells that its files are there.
std::optional<double> quota_of(const Root& root, const std::string& folder, bool& is_seen) {
  if (const auto both = root.text(folder + "/cpu.max"); both.has_value()) {
    is_seen = true;
    const std::vector<std::string> words = base::split(*both, ' ');
    const auto quota = parse_integer(words[0]);
    const auto period = parse_integer(words.size() > 1 ? words[1] : "100000");
    if (!quota.has_value() || !period.has_value() || *quota <= 0 || *period <= 0) return {};
    return static_cast<double>(*quota) / static_cast<double>(*period);
  }
  const auto quota = root.integer(folder + "/cpu.cfs_quota_us");
  const auto period = root.integer(folder + "/cpu.cfs_period_us");
  is_seen = is_seen || quota.has_value() || root.exists(folder + "/cpu.stat");
  if (!quota.has_value() || !period.has_value() || *quota <= 0 || *period <= 0) return {};
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::int64_t> memory_limit_of(const Root& root, const std::string& folder,
                                            bool& is_seen) {
  for (const char* name : {"/memory.max", "/memory.limit_in_bytes"}) {
    const auto limit = root.text(folder + name);
    if (!limit.has_value()) continue;
    is_seen = true;
    const auto bytes = parse_integer(*limit);
    if (bytes.has_value() && *bytes > 0 && *bytes < kNoMemoryLimit) return *bytes;
    return {};
  }
  is_seen = is_seen || root.exists(folder + "/memory.stat");
  return {};
}

template <class T, class Read>
Measured<T> smallest(const Root& root, const std::string& controller, const std::string& none,
                     Read read) {
  std::optional<T> least;
  bool is_seen = false;
  for (const std::string& folder : group_folders(root, controller)) {
    const std::optional<T> limit = read(root, folder, is_seen);
    if (limit && (!least || *limit < *least)) least = limit;
    is_seen = is_seen || root.exists(folder + "/cgroup.controllers");
  }
  if (least) return *least;
  if (is_seen) return Measured<T>::missing(none);
  const auto membership = root.read("proc/self/cgroup");
  return Measured<T>::missing("unknown: " + (membership.has_value()
                                                 ? "no control group files below /sys/fs/cgroup"
                                                 : membership.reason));
}

}  // namespace

CgroupLimits cgroup_limits(const Root& root) {
  CgroupLimits limits;
  limits.quota_cpus = smallest<double>(root, ",cpu,", kNoQuota, quota_of);
  limits.memory_bytes = smallest<std::int64_t>(root, ",memory,", "no limit", memory_limit_of);
  for (const std::string& folder : group_folders(root, ",cpu,")) {
    if (!root.exists(folder + "/cpu.stat")) continue;
    limits.cpu_stat = folder + "/cpu.stat";
    break;
  }
  return limits;
}

}  // namespace falcon::platform
