// Part of the system file: a composable chassis, its drawers and cables, and its management.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "falconbench/fields.h"

namespace falcon {

/// A cable from a drawer to a host.
struct SystemHostLink {
  std::string host;
  std::string root_port;  // dddd:bb:dd.f in lower case once loaded
  std::string port;
};
template <class V>
void visit_fields(SystemHostLink& l, V& v) {
  v.field("host", l.host, "name of the host that it leads to (default: this host)");
  v.field("root_port", l.root_port,
          "PCI address of the port of the host that it is plugged into: with it a report can prove "
          "where a GPU sits");
  v.field("port", l.port,
          "Id of the drawer's port that it is plugged into, as redfish has it: the report says "
          "which link the figures of that port are of");
}

struct SystemDrawer {
  std::string mode = "one_host";
  std::string switch_name;
  std::map<std::string, SystemHostLink> host_links;
};
template <class V>
void visit_fields(SystemDrawer& d, V& v) {
  v.field("mode", d.mode,
          "how it is shared: one_host (one link), two_hosts (a half each), two_links (one host, a "
          "half of the drawer on each link) or advanced (up to three hosts)",
          one_of("drawer_modes"));
  v.field("switch", d.switch_name,
          "Id of its switch, as redfish has it: the report says which drawer a port belongs to");
  v.field("host_links", d.host_links, "its cables by a name of your choice (default: one, here)");
}

/// The management of a chassis. Its secrets are in a file or in the environment
/// (FALCONBENCH_REDFISH_USER, FALCONBENCH_REDFISH_PASSWORD), never in a system file.
struct SystemRedfish {
  std::string url;
  std::string ca_file, credentials;  // absolute once loaded
};
template <class V>
void visit_fields(SystemRedfish& r, V& v) {
  v.field("url", r.url, "its address, e.g. https://falcon.example", Rule{.required = true});
  v.field("ca_file", r.ca_file,
          "certificates to trust, PEM (default: the system's); relative to the system file");
  v.field("credentials", r.credentials,
          "file of two lines, user and password (default: FALCONBENCH_REDFISH_USER and "
          "FALCONBENCH_REDFISH_PASSWORD); relative to the system file");
}

struct SystemChassis {
  std::string model;
  std::optional<SystemRedfish> redfish;
  std::map<std::string, SystemDrawer> drawers;  // by number, in digits
};
template <class V>
void visit_fields(SystemChassis& c, V& v) {
  v.field("model", c.model, "what it is, for people");
  v.field("redfish", c.redfish,
          "its management (Redfish), asked for what its ports count when a run uses the chassis");
  v.field("drawers", c.drawers, "its drawers by number");
}

}  // namespace falcon
