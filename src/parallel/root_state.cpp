#include "parallel/root_state.h"

#include <vector>

namespace falcon::parallel {

void take_state_of_root(comm::ProcessGroup& group, const Model& model) {
  std::vector<at::Tensor> parameters;
  for (const NamedTensor& entry : model.parameters()) parameters.push_back(entry.tensor);
  group.check_same_layout(parameters);
  std::vector<at::Tensor> state;
  for (const NamedTensor& entry : model.state()) {
    // step counts stay on the host whatever the device; they are the same everywhere anyway
    if (entry.tensor.device() == group.device()) state.push_back(entry.tensor.detach());
  }
  group.broadcast_all(state, 0);
}

}  // namespace falcon::parallel
