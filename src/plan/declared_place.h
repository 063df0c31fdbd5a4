// Declared against seen: whether a GPU or a drive sits where the system file says. Pure.
#pragma once
#include <string>

#include "falconbench/host.h"
#include "falconbench/places.h"
#include "falconbench/system_file.h"

namespace falcon::plan {

struct Judgement {
  std::string verdict, evidence;
};

/// What a system file and a host say together, for all questions about one run.
class DeclaredPlaces {
 public:
  /// REQUIRES: both outlive this.
  DeclaredPlaces(const Host& host, const SystemFile& system);

  /// seen: one of the host's GPUs.
  Judgement of_gpu(const SystemGpu& declared, const Gpu& seen) const;
  Judgement of_storage(const SystemStorage& declared, const StoragePlace& seen) const;
  /// Where a GPU sits as far as the host shows it.
  Measured<std::string> attach_seen(const Gpu& gpu) const;

 private:
  Judgement of_falcon(const SystemGpu& declared, const Gpu& seen) const;
  Judgement of_local(const Gpu& seen) const;
  Judgement without_port(const SystemGpu& declared, const Gpu& seen) const;
  Judgement of_falcon_drive(const SystemStorage& declared, const std::string& port,
                            const std::string& at) const;
  Judgement of_device(const SystemStorage& declared, const std::string& gap) const;
  bool is_chassis_port(const std::string& port) const;
  bool knows_chassis_ports() const;
  const SystemGpu* declaration_of(const Gpu& gpu) const;
  bool is_below_board_switch(const std::string& root_port) const;
  std::string chassis_at(const std::string& root_port) const;
  std::string chassis_of_model(const std::string& root_port) const;

  const Host& host_;
  const SystemFile& system_;
};

/// The first of the bridges above it; missing where the path is not known, or none is above it.
Measured<std::string> root_port_of(const Measured<std::vector<std::string>>& bridges);
/// A root port, an upstream and a downstream port at least.
bool is_behind_switch(const std::vector<std::string>& bridges);

}  // namespace falcon::plan
