// What lspci prints: the tree (-tv) and the listing of devices (plain, -nn, -v to -vvv; lines may
// begin with "ADDRESS | ", as a loop over several devices writes them).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/machine/pci_tree.h"

namespace falcon::platform {

bool begins_lspci_tree(std::string_view line);
/// Throws Error(kUsage) when a line does not continue the tree; text at the left margin ends it.
/// Kinds follow from the names, as the tree has no classes (and, without -nn, no numbers).
PciTree read_lspci_tree(std::string_view text);

bool begins_lspci_listing(std::string_view line);
/// Devices without a path: root and bridges stay empty. A speed that is marked "(downgraded)" keeps
/// the mark.
PciTree read_lspci_listing(std::string_view text);

/// Puts classes, NUMA nodes and links of a listing into the tree of the same machine.
void join_listing(const PciTree& listing, PciTree& tree);

/// Lines of lspci's access control services: how many, and which bits are on in how many of them.
struct AccessControl {
  int lines = 0;
  std::vector<std::pair<std::string, int>> bits_on;  // "ReqRedir", 3
};
bool begins_access_control(std::string_view line);
/// Nothing without such a line.
std::optional<AccessControl> read_access_control(std::string_view text);

}  // namespace falcon::platform
