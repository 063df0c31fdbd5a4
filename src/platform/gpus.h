// The GPUs of a host: NVML for the boards, sysfs for where they are plugged in.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/host.h"
#include "platform/nvml.h"
#include "platform/root.h"

namespace falcon::platform {

/// Fills host.driver, driver_cuda and gpus (PCI order, each board once) and adds a note for every
/// position of NVML's list that gave no usable GPU. own_pid is left out of the process lists; names
/// are read from proc unless the host is a container, where pids may be those of the host outside.
void read_gpus(const Root& root, const Nvml& nvml, std::int64_t own_pid, Host& host);

}  // namespace falcon::platform
