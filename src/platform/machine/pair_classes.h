// How far apart every two GPUs are, joined from all trees and from nvidia-smi topo -m and -mp.
#pragma once
#include "platform/machine/machine.h"

namespace falcon::platform {

/// Fills pcie and the groups of GPUs below one switch; reports classes that disagree.
void join_pcie_classes(const Dump& dump, Machine& machine);

/// Fills topo from topo -m, else from pcie and the links of NVLink. REQUIRES: both are joined.
void join_topo(const Dump& dump, Machine& machine);

/// The matrix of topo -m when it is of as many GPUs as the machine has, else nullptr.
const TopoMatrix* topo_of_all(const Machine& machine, const Dump& dump);
/// The same, else the matrix of topo -mp: network cards and affinities are in both.
const TopoMatrix* any_topo_of_all(const Machine& machine, const Dump& dump);

}  // namespace falcon::platform
