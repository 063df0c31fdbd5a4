#include "cli/system_draft.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::cli {
namespace {

// What is proposed of one GPU.
struct Proposal {
  const Gpu* gpu = nullptr;
  std::string name;
  bool is_falcon = false;
  int drawer = 0;
  std::string why;
};

std::string switch_text(const Gpu& gpu) {
  if (!gpu.bridges.has_value()) return gpu.bridges.reason;
  const std::vector<std::string>& bridges = *gpu.bridges;
  if (bridges.empty()) return "on the root complex";
  if (bridges.size() < 3) return "below root port " + bridges[0] + ", no switch between";
  return "behind the switch at " + bridges[1] + ", root port " + bridges[0];
}

std::string reason_of(const Gpu& gpu, const platform::MachineGpu& seen) {
  const std::string at = switch_text(gpu);
  const int links = gpu.nvlinks.value.value_or(0);
  if (links > 0) return at + "; " + std::to_string(links) + " links of NVLink";
  if (!seen.place.has_value()) return at + "; CONFIRM: " + seen.place.reason;
  if (*seen.place == "falcon") {
    return at + "; CONFIRM: no NVLink, and no GPU with NVLink behind that switch";
  }
  return at;
}

std::vector<Proposal> proposals_of(const platform::Machine& machine, const Host& host) {
  std::vector<Proposal> proposals;
  std::map<bool, int> next;
  for (const Gpu& gpu : host.gpus) {
    const auto seen = std::find_if(
        machine.gpus.begin(), machine.gpus.end(),
        [&](const platform::MachineGpu& one) { return one.address == gpu.pci_address; });
    if (seen == machine.gpus.end() || gpu.pci_address.empty()) continue;
    Proposal proposal;
    proposal.gpu = &gpu;
    proposal.is_falcon = seen->place.value == "falcon";
    proposal.drawer = seen->drawer.value.value_or(0);
    proposal.why = reason_of(gpu, *seen);
    proposal.name =
        (proposal.is_falcon ? "falcon" : "local") + std::to_string(next[proposal.is_falcon]++);
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

std::string gpus_section(const std::vector<Proposal>& proposals) {
  std::string out = "gpus:\n";
  for (const Proposal& one : proposals) {
    out += "  " + one.name + ":   # " + base::printable(one.gpu->name) + ", " + one.why + "\n";
    out += "    pci_address: \"" + one.gpu->pci_address + "\"\n";
    if (one.gpu->uuid.starts_with("GPU-")) out += "    uuid: " + one.gpu->uuid + "\n";
    if (!one.is_falcon) {
      out += "    attach: local\n";
      continue;
    }
    out += "    attach: falcon\n    chassis: chassis1\n    drawer: " + std::to_string(one.drawer) +
           "\n";
  }
  return out;
}

std::string link_state(const platform::HostLink& link) {
  if (!link.gen.has_value() || !link.width.has_value()) return "";
  return ", Gen" + std::to_string(*link.gen) + " x" + std::to_string(*link.width);
}

std::string chassis_section(const platform::Machine& machine) {
  if (machine.host_links.empty()) {
    return "\n# No GPU is proposed to sit in a chassis. Where one does, mark it attach: falcon "
           "with\n"
           "# chassis and drawer, and name the port that the chassis is plugged into:\n"
           "# chassis:\n"
           "#   chassis1:\n"
           "#     drawers:\n"
           "#       1: {mode: one_host, host_links: {cable1: {root_port: \"0000:00:00.0\"}}}\n";
  }
  std::string out =
      "\n# Each switch next to a root port is taken for a drawer. mode: one_host, two_hosts, "
      "two_links "
      "or advanced.\n"
      "# Where its management speaks Redfish: redfish: {url: https://...} beside model, for the "
      "counters of its ports.\n"
      "chassis:\n  chassis1:\n    model: CONFIRM\n    drawers:\n";
  for (const platform::HostLink& link : machine.host_links) {
    const std::string number = std::to_string(link.drawer);
    out += "      " + number + ":   # switch at " + link.switch_upstream + link_state(link) + "\n";
    out += "        mode: one_host\n";
    out += "        host_links: {cable" + number + ": {root_port: \"" + link.root_port + "\"}}\n";
  }
  return out;
}

std::string drawer_of(const platform::Machine& machine, const NvmeDrive& drive) {
  if (!drive.bridges.has_value() || drive.bridges.value->empty()) return "";
  for (const platform::HostLink& link : machine.host_links) {
    if (link.root_port == drive.bridges.value->front()) return std::to_string(link.drawer);
  }
  return "";
}

// A mount that a data set may lie on: not the system's own.
bool is_for_data(const std::string& folder) {
  static const std::set<std::string> kSystem = {"/boot", "/boot/efi", "/etc", "/usr", "/var"};
  return folder.find_first_of("\"\\\n") == std::string::npos && !kSystem.contains(folder) &&
         !folder.starts_with("/etc/") && !folder.starts_with("/var/lib/");
}

std::string storage_section(const platform::Machine& machine, const Host& host) {
  std::string entries, unmounted;
  std::map<bool, int> count;
  std::set<std::string> used;
  for (const NvmeDrive& drive : host.drives) {
    const std::string drawer = drawer_of(machine, drive);
    const std::string where = drawer.empty() ? "in the host" : "in drawer " + drawer;
    bool is_mounted = false;
    for (const HostMount& mount : host.mounts.value.value_or(std::vector<HostMount>())) {
      const bool is_on =
          mount.disks.size() == 1 &&
          std::find(drive.disks.begin(), drive.disks.end(), mount.disks[0]) != drive.disks.end();
      if (!is_on || !is_for_data(mount.folder) || !used.insert(mount.folder).second) continue;
      is_mounted = true;
      const int number = count[drawer.empty()]++;
      entries += std::string("  ") + (drawer.empty() ? "localNVMe" : "falconNVMe") +
                 (number == 0 ? "" : std::to_string(number + 1)) + ":   # " + drive.name + " at " +
                 drive.pci_address + ", " + where + "\n    mount: \"" + mount.folder +
                 "\"\n    device: /dev/" + mount.disks[0] + "\n";
      entries += drawer.empty()
                     ? "    attach: local\n"
                     : "    attach: falcon\n    chassis: chassis1\n    drawer: " + drawer + "\n";
    }
    if (!is_mounted) {
      unmounted += "# " + drive.name + " at " + drive.pci_address + ", " + where +
                   ", is not known to carry a mount for data\n";
    }
  }
  if (entries.empty() && unmounted.empty()) return "";
  return "\n" + unmounted + (entries.empty() ? "" : "storage:\n" + entries);
}

std::string topologies_section(const std::vector<Proposal>& proposals) {
  const bool has_falcon = std::any_of(proposals.begin(), proposals.end(),
                                      [](const Proposal& one) { return one.is_falcon; });
  const bool has_local = std::any_of(proposals.begin(), proposals.end(),
                                     [](const Proposal& one) { return !one.is_falcon; });
  std::string out =
      "\n# hybridGPUs is half of one kind and half of the other unless it is named.\n";
  out += "topologies:\n";
  if (has_local) out += "  localGPUs: [\"local*\"]\n";
  if (has_falcon) out += "  falconGPUs: [\"falcon*\"]\n";
  return out;
}

}  // namespace

std::string system_draft(const platform::Machine& machine, const Host& host) {
  const std::vector<Proposal> proposals = proposals_of(machine, host);
  if (proposals.empty()) {
    throw Error(ExitCode::kHost, "no system file can be drafted: " +
                                     (machine.gpus.empty() ? platform::why_no_gpus(machine)
                                                           : "the PCI addresses of the GPUs are "
                                                             "not known"));
  }
  return "# System file of " + base::printable(host.hostname) +
         ", drafted by falconbench doctor --write-system.\n"
         "# Detection cannot tell a switch on the board from one in a chassis: confirm the lines "
         "marked CONFIRM,\n# and give names and slots that you know. Name it in a spec: system: "
         "FILE\n\n" +
         gpus_section(proposals) + chassis_section(machine) + storage_section(machine, host) +
         topologies_section(proposals);
}

void write_new_file(const std::string& path, const std::string& text) {
  const auto refuse = [&](int error) {
    throw Error(ExitCode::kUsage, base::printable(path, 400) +
                                      (error == EEXIST ? ": is there already and is not overwritten"
                                                       : std::string(": ") + std::strerror(error)));
  };
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) refuse(errno);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written <= 0) {
      const int error = errno;
      close(fd);
      unlink(path.c_str());
      refuse(error);
    }
    done += static_cast<std::size_t>(written);
  }
  close(fd);
}

}  // namespace falcon::cli
