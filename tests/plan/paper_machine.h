// The machine of the paper, from the files that describe it, with faults built in.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "falconbench/host.h"
#include "platform/machine/host_places.h"
#include "spec/system_file.h"
#include "support/fake_host.h"

namespace falcon::plan {

inline constexpr const char* kPaperFolder = "tests/data/machines/paper-falcon4016/";

/// Changes a line, or gives "" to leave it out.
using Edit = std::function<std::string(const std::string& line)>;

inline std::string edited(const std::string& text, const Edit& edit) {
  std::string out;
  for (const std::string& line : base::split(text, '\n')) {
    const std::string changed = edit(line);
    if (!changed.empty()) out += changed + "\n";
  }
  return out;
}

inline std::string replaced(std::string line, const std::string& from, const std::string& to) {
  const std::size_t at = line.find(from);
  return at == std::string::npos ? line : line.replace(at, from.size(), to);
}

inline std::string as_it_is(const std::string& line) {
  return line;
}

/// more: further lines of the manifest.
inline Host paper_host(const Edit& edit = as_it_is, const std::string& more = "") {
  test::FakeRoot folder;
  for (const char* name : {"sysfs.manifest", "gpus.csv", "nvlink_s.txt", "topo_m.txt"}) {
    std::string text = edited(base::read_file(std::string(kPaperFolder) + name), edit);
    if (name == std::string("sysfs.manifest")) text += more;
    folder.file(name, text);
  }
  const platform::Dump dump = platform::read_dump(folder.path());
  return platform::host_of(platform::make_machine(dump), dump, "paper");
}

/// Without what only knows all sixteen GPUs.
inline Host paper_host_without(const std::vector<std::string>& buses) {
  test::FakeRoot folder;
  const Edit without = [&](const std::string& line) {
    for (const std::string& bus : buses) {
      if (line.find("0000:" + bus + ":00.0") != std::string::npos) return std::string();
    }
    return line;
  };
  folder.file("sysfs.manifest",
              edited(base::read_file(std::string(kPaperFolder) + "sysfs.manifest"), without));
  const platform::Dump dump = platform::read_dump(folder.path());
  return platform::host_of(platform::make_machine(dump), dump, "paper");
}

inline SystemFile paper_system() {
  return spec::load_system_file("configs/systems/paper-falcon4016.yaml");
}

/// The drives of the paper's machine, mounted.
inline constexpr const char* kPaperMounts =
    "f proc/self/mountinfo: 30 1 259:0 / / rw - ext4 /dev/nvme9n1 rw\n"
    "+ 36 30 259:1 / /mnt/local_nvme rw - ext4 /dev/nvme0n1 rw\n"
    "+ 37 30 259:2 / /mnt/falcon_nvme rw - ext4 /dev/nvme1n1 rw\n"
    "l sys/dev/block/259:1 -> "
    "../../devices/pci0000:c9/0000:c9:02.0/0000:ca:00.0/nvme/nvme0/nvme0n1\n"
    "l sys/dev/block/259:2 -> "
    "../../devices/pci0000:d7/0000:d7:00.0/0000:d8:00.0/0000:d9:10.0/0000:de:00.0/nvme/nvme1/"
    "nvme1n1\n";

}  // namespace falcon::plan
