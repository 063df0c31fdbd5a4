// The c10d objects behind ProcessGroup, for the sources of this folder only: its headers take 15 s
// to compile.
#pragma once
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "comm/process_group.h"

namespace falcon::comm {

struct ProcessGroup::Impl {
  Rendezvous meeting;
  Backend backend = Backend::kGloo;
  at::Device device = at::kCPU;
  c10::intrusive_ptr<c10d::Store> store;
  c10::intrusive_ptr<c10d::ProcessGroup> group;
};

}  // namespace falcon::comm
