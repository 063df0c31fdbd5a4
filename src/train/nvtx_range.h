// Names for stretches of time in Nsight Systems; nearly free where no tool listens.
#pragma once

#include <nvtx3/nvToolsExt.h>

namespace falcon::train {

/// From construction to destruction, on the calling thread. Ranges nest.
class NvtxRange {
 public:
  explicit NvtxRange(const char* name) { nvtxRangePushA(name); }
  ~NvtxRange() { nvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace falcon::train
