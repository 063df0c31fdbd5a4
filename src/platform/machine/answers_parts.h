// The parts of answers_of(), each of which adds its answers to one object.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "platform/machine/machine.h"

namespace falcon::platform {

void put_matrices(const Machine& machine, const Dump& dump, base::Value& out);
void put_gpus(const Machine& machine, const Dump& dump, base::Value& out);
void put_links(const Machine& machine, const Dump& dump, base::Value& out);
void put_places(const Machine& machine, base::Value& out);
void put_nics(const Machine& machine, const Dump& dump, base::Value& out);
void put_drives(const Machine& machine, const Dump& dump, base::Value& out);
void put_other_devices(const Machine& machine, const Dump& dump, base::Value& out);
void put_topo_file(const Dump& dump, base::Value& out);
void put_reports(const Dump& dump, base::Value& out);
void put_measured(const Dump& dump, base::Value& out);

inline base::Value to_value(const base::Value& value) {
  return value;
}
inline base::Value to_value(bool value) {
  return value;
}
inline base::Value to_value(int value) {
  return value;
}
inline base::Value to_value(std::int64_t value) {
  return value;
}
inline base::Value to_value(double value) {
  return value;
}
inline base::Value to_value(const std::string& value) {
  return value;
}
template <class T>
base::Value to_value(const std::optional<T>& value);
template <class Range>
requires requires(const Range& range) {
  range.begin();
}
base::Value to_value(const Range& range) {
  base::Value list = base::Value::list();
  for (const auto& item : range) list.push_back(to_value(item));
  return list;
}
template <class T>
base::Value to_value(const std::optional<T>& value) {
  return value ? to_value(*value) : base::Value();
}

void put_missing(base::Value& out, const std::string& name, const std::string& reason);

template <class T>
void put(base::Value& out, const std::string& name, const Measured<T>& value) {
  if (value.has_value()) {
    out.set(name, to_value(*value));
  } else {
    put_missing(out, name, value.reason);
  }
}

/// Class of each network card to each GPU, by their names.
base::Value nic_relation_of(const TopoMatrix& topo);

/// Root complex, bridges and the device itself.
std::vector<std::string> pci_path_of(const PciDevice& device);

}  // namespace falcon::platform
