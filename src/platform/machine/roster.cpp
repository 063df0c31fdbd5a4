#include "platform/machine/roster.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "platform/dump/lines.h"
#include "platform/machine/findings.h"
#include "platform/pci_address.h"

namespace falcon::platform {
namespace {

using Counts = std::vector<std::pair<std::string, int>>;  // file, number of GPUs

struct Seat {
  std::string address, bus_id, name;
};

// The GPUs of one source.
struct Listing {
  std::string file;
  std::vector<Seat> seats;
  bool is_in_nvml_order = false;
  bool may_be_part = false;  // somebody may have selected these GPUs
};

std::set<std::string> addresses_of(const Listing& listing) {
  std::set<std::string> addresses;
  for (const Seat& seat : listing.seats) addresses.insert(seat.address);
  return addresses;
}

// "nvml12" -> 12
std::optional<int> nvml_number(const PciDevice& device) {
  for (const std::string& name : device.os_devices) {
    if (name.starts_with("nvml")) return leading_number(std::string_view(name).substr(4));
  }
  return {};
}

Listing listing_of(const PciTree& tree) {
  Listing listing{tree.file, {}, false};
  std::vector<std::pair<int, Seat>> seats;
  bool is_numbered = true;
  for (std::size_t i = 0; i < tree.devices.size(); ++i) {
    const PciDevice& device = tree.devices[i];
    if (device.kind != DeviceKind::kGpu) continue;
    std::optional<int> number = nvml_number(device);
    if (!tree.nccl_devices.empty() && tree.nccl_devices[i] >= 0) number = tree.nccl_devices[i];
    is_numbered = is_numbered && number.has_value();
    seats.emplace_back(number.value_or(0), Seat{device.address, "", device.name});
  }
  if (is_numbered) {
    std::stable_sort(seats.begin(), seats.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  for (auto& [number, seat] : seats) listing.seats.push_back(std::move(seat));
  listing.is_in_nvml_order = is_numbered;
  return listing;
}

Listing listing_of(const FromFile<SmiReport>& report) {
  Listing listing{report.file, {}, true};
  const int described = static_cast<int>(report.content.gpus.size());
  listing.may_be_part = report.content.attached.value_or(described) > described;
  for (const SmiGpu& gpu : report.content.gpus) {
    listing.seats.push_back({normal_pci_address(gpu.bus_id), gpu.bus_id, gpu.name.value_or("")});
  }
  return listing;
}

// Not a selection: the indices, where they are given, have no gap.
bool counts_all(const std::vector<CsvGpu>& gpus) {
  return std::all_of(gpus.begin(), gpus.end(), [&gpus](const CsvGpu& gpu) {
    return !gpu.index || *gpu.index < static_cast<int>(gpus.size());
  });
}

Listing listing_of(const FromFile<std::vector<CsvGpu>>& csv) {
  Listing listing{csv.file, {}, true};
  listing.may_be_part = !counts_all(csv.content);
  std::vector<CsvGpu> gpus = csv.content;
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const CsvGpu& a, const CsvGpu& b) { return a.index < b.index; });
  for (const CsvGpu& gpu : gpus) {
    listing.seats.push_back({normal_pci_address(gpu.bus_id), gpu.bus_id, gpu.name});
  }
  return listing;
}

// Whether a tree of lspci has what the listing has; then the two are one source.
bool is_joined(const Listing& listing, const Dump& dump) {
  for (const PciTree& tree : dump.trees) {
    if (tree.source != TreeSource::kLspci) continue;
    return std::all_of(listing.seats.begin(), listing.seats.end(),
                       [&tree](const Seat& seat) { return tree.find(seat.address) != nullptr; });
  }
  return false;
}

// Sources that give addresses, the most believed first.
std::vector<Listing> listings_of(const Dump& dump) {
  std::vector<Listing> listings;
  if (dump.host && dump.host->driver.has_value()) {
    // Of this host: what the driver gives to this process, which may be fewer than are plugged in.
    Listing listing{"NVML", {}, false};
    for (const Gpu& gpu : dump.host->gpus) {
      listing.seats.push_back({gpu.pci_address, gpu.pci_address, gpu.name});
    }
    return {listing};
  }
  for (const PciTree& tree : dump.trees) {
    if (tree.devices.empty()) continue;
    Listing listing = listing_of(tree);
    // Where it is not told what the devices are, some may be GPUs.
    if (tree.tells_kinds || !listing.seats.empty()) listings.push_back(std::move(listing));
  }
  for (const auto& csv : dump.csv) listings.push_back(listing_of(csv));
  for (const auto& report : dump.reports) listings.push_back(listing_of(report));
  if (dump.table) listings.push_back(listing_of(*dump.table));
  if (dump.driver_files) {
    Listing listing{dump.driver_files->file, {}, false};
    for (const auto& [bus_id, model] : dump.driver_files->content.gpus) {
      listing.seats.push_back({normal_pci_address(bus_id), bus_id, model});
    }
    if (!listing.seats.empty()) listings.push_back(std::move(listing));
  }
  if (dump.lspci_listing) {
    Listing listing = listing_of(dump.lspci_listing->content);
    listing.file = dump.lspci_listing->file;
    listing.may_be_part = !dump.lspci_listing->content.lists_all_kinds;
    const bool says_more =
        !is_joined(listing, dump) && !(listing.may_be_part && listing.seats.empty());
    if (says_more) listings.push_back(std::move(listing));
  }
  return listings;
}

bool has_all_addresses(const Listing& listing) {
  return std::none_of(listing.seats.begin(), listing.seats.end(),
                      [](const Seat& seat) { return seat.address.empty(); });
}

// Not a selection: the indices have no gap.
bool names_all(const std::vector<NvlinkGpu>& gpus) {
  return gpus.empty() || gpus.back().index + 1 == static_cast<int>(gpus.size());
}

// Sources that only count.
Counts counts_of(const Dump& dump) {
  Counts counts;
  const auto add = [&](const auto& from, std::size_t count) {
    counts.emplace_back(from.file, static_cast<int>(count));
  };
  for (const auto* topo : {&dump.topo, &dump.topo_pcie}) {
    if (*topo) add(**topo, (*topo)->content.gpus.size());
  }
  for (const auto& status : dump.peer_status) add(status, status.content.gpus.size());
  for (const auto* list : {&dump.nvlink_states, &dump.nvlink_remotes, &dump.gpu_names}) {
    if (*list && names_all((*list)->content)) add(**list, (*list)->content.size());
  }
  if (dump.peer_test) add(*dump.peer_test, dump.peer_test->content.gpus.size());
  if (dump.monitor) add(*dump.monitor, dump.monitor->content.size());
  for (const auto& csv : dump.csv) {
    if (!has_all_addresses(listing_of(csv)) && counts_all(csv.content))
      add(csv, csv.content.size());
  }
  if (dump.probe) counts.emplace_back(dump.probe->file, 1);  // a probe is of one GPU
  return counts;
}

// The first that is surely of all GPUs, else one of some of them, else one that says that there is
// none. Nothing where another source counts more.
const Listing* base_of(const std::vector<Listing>& listings, const Counts& counts) {
  const Listing* part = nullptr;
  const Listing* empty = nullptr;
  for (const Listing& listing : listings) {
    if (listing.seats.empty()) {
      if (empty == nullptr) empty = &listing;
    } else if (has_all_addresses(listing)) {
      if (!listing.may_be_part) return &listing;
      if (part == nullptr) part = &listing;
    }
  }
  const auto has_less = [part](const auto& count) {
    return count.second > static_cast<int>(part->seats.size());
  };
  if (part != nullptr && std::none_of(counts.begin(), counts.end(), has_less)) return part;
  return counts.empty() ? empty : nullptr;
}

// Reports of several machines in one folder: none of them is the machine.
bool are_several_machines(const Dump& dump) {
  std::set<std::set<std::string>> sets;
  for (const auto& report : dump.reports) sets.insert(addresses_of(listing_of(report)));
  return sets.size() > 1 && dump.trees.empty() && dump.csv.empty();
}

void take_names(const Dump& dump, const std::vector<Listing>& listings, Machine& machine) {
  for (MachineGpu& gpu : machine.gpus) {
    for (const Listing& listing : listings) {
      for (const Seat& seat : listing.seats) {
        if (seat.address.empty() || seat.address != gpu.address) continue;
        if (gpu.bus_id.empty()) gpu.bus_id = seat.bus_id;
        // lspci and hwloc name the chip; nvidia-smi, which comes later, names the product.
        if (!seat.name.empty() && (gpu.name.empty() || !seat.bus_id.empty())) gpu.name = seat.name;
      }
    }
  }
  for (const auto* list : {&dump.nvlink_states, &dump.nvlink_remotes, &dump.gpu_names}) {
    if (!*list) continue;
    for (const NvlinkGpu& gpu : (*list)->content) {
      const auto index = static_cast<std::size_t>(gpu.index);
      if (index >= machine.gpus.size() || !machine.gpus[index].name.empty()) continue;
      machine.gpus[index].name = gpu.name;
    }
  }
}

// Where it is not known where the GPUs are, any of them can be.
bool can_be_part(const std::set<std::string>& found, const std::set<std::string>& known) {
  return known.contains("") ||
         std::includes(known.begin(), known.end(), found.begin(), found.end());
}

void report_differences(const std::vector<Listing>& listings, const Counts& counts,
                        Machine& machine) {
  std::set<std::string> known;
  for (const MachineGpu& gpu : machine.gpus) known.insert(gpu.address);
  for (const Listing& listing : listings) {
    const std::set<std::string> found = addresses_of(listing);
    if (!has_all_addresses(listing) || found == known) continue;
    if (listing.may_be_part && can_be_part(found, known)) continue;
    machine.findings.push_back(sources_disagree(
        "which GPUs there are", machine.gpu_source + ": " + std::to_string(known.size()) + " GPUs",
        listing.file + ": " + std::to_string(listing.seats.size()) + " GPUs" +
            (listing.seats.empty() ? "" : ", the first at " + listing.seats.front().address)));
  }
  for (const auto& [file, count] : counts) {
    if (count == *machine.gpu_count) continue;
    machine.findings.push_back(sources_disagree(
        "how many GPUs there are", machine.gpu_source + ": " + std::to_string(*machine.gpu_count),
        file + ": " + std::to_string(count)));
  }
}

// nvidia-smi -q -i prints a part of the GPUs, and how many there are.
void report_selections(const Dump& dump, Machine& machine) {
  for (const auto& report : dump.reports) {
    const int described = static_cast<int>(report.content.gpus.size());
    if (report.content.attached.value_or(described) == described) continue;
    machine.findings.push_back(sources_disagree(
        "how many GPUs there are", report.file + " describes " + std::to_string(described),
        "it says that " + std::to_string(*report.content.attached) + " are attached"));
  }
}

void take_several_machines(const Dump& dump, Machine& machine) {
  std::set<std::size_t> sizes;
  for (const auto& report : dump.reports) sizes.insert(report.content.gpus.size());
  const std::string why = "the files are of different machines";
  machine.gpu_count = sizes.size() == 1 ? Measured<int>(static_cast<int>(*sizes.begin()))
                                        : Measured<int>::missing(why);
  machine.findings.push_back(
      sources_disagree("which machine they are of", dump.reports[0].file, dump.reports[1].file));
}

}  // namespace

void make_roster(const Dump& dump, Machine& machine) {
  if (are_several_machines(dump)) {
    take_several_machines(dump, machine);
    return;
  }
  const std::vector<Listing> listings = listings_of(dump);
  const auto counts = counts_of(dump);
  const Listing* base = base_of(listings, counts);
  if (base != nullptr) {
    machine.gpu_source = base->file;
    for (const Listing& listing : listings) {
      if (!listing.is_in_nvml_order || addresses_of(listing) != addresses_of(*base)) continue;
      base = &listing;
      break;
    }
    for (const Seat& seat : base->seats) machine.gpus.emplace_back().address = seat.address;
    machine.gpu_count = static_cast<int>(machine.gpus.size());
  } else if (!counts.empty() || !listings.empty()) {
    machine.gpu_source = counts.empty() ? listings.front().file : counts.front().first;
    machine.gpu_count =
        counts.empty() ? static_cast<int>(listings.front().seats.size()) : counts.front().second;
    machine.gpus.resize(static_cast<std::size_t>(*machine.gpu_count));
  } else {
    machine.gpu_count = Measured<int>::missing("no file tells the GPUs");
    return;
  }
  take_names(dump, listings, machine);
  report_differences(listings, counts, machine);
  report_selections(dump, machine);
}

}  // namespace falcon::platform
