#include "platform/pci_address.h"

#include <cstdio>
#include <optional>
#include <tuple>

namespace falcon::platform {
namespace {

struct Address {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
};

// sscanf would take blanks and signs between the fields.
bool is_hexadecimal(const std::string& text) {
  return text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
}

std::optional<Address> parse(const std::string& text) {
  Address a;
  int used = 0;
  const int size = static_cast<int>(text.size());
  const char* in = text.c_str();
  if (!is_hexadecimal(text)) return {};
  if (std::sscanf(in, "%8x:%2x:%2x.%1x%n", &a.domain, &a.bus, &a.device, &a.function, &used) != 4 ||
      used != size) {
    a = {};
    if (std::sscanf(in, "%8x:%2x:%2x%n", &a.domain, &a.bus, &a.device, &used) != 3 ||
        used != size) {
      a = {};
      if (std::sscanf(in, "%2x:%2x.%1x%n", &a.bus, &a.device, &a.function, &used) != 3 ||
          used != size) {
        return {};
      }
    }
  }
  if (a.device > 0x1f || a.function > 7) return {};
  return a;
}

}  // namespace

std::string normal_pci_address(const std::string& text) {
  const std::optional<Address> a = parse(text);
  if (!a) return "";
  char out[32];
  std::snprintf(out, sizeof out, "%04x:%02x:%02x.%x", a->domain, a->bus, a->device, a->function);
  return out;
}

bool is_before_on_pci(const std::string& a, const std::string& b) {
  const std::optional<Address> left = parse(a);
  const std::optional<Address> right = parse(b);
  if (!left || !right) return left.has_value() && !right.has_value();
  return std::tie(left->domain, left->bus, left->device, left->function) <
         std::tie(right->domain, right->bus, right->device, right->function);
}

}  // namespace falcon::platform
