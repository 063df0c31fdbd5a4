// PCI addresses: NVML, CUDA, sysfs and people write them in different forms.
#pragma once
#include <string>

namespace falcon::platform {

/// "00000000:3B:00.0", "0000:3b:00", "3B:00.0" -> "0000:3b:00.0"; "" when it is no PCI address.
std::string normal_pci_address(const std::string& text);

/// Order of normal addresses by number; one that is none comes last.
bool is_before_on_pci(const std::string& a, const std::string& b);

}  // namespace falcon::platform
