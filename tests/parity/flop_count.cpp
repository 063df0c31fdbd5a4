#include "parity/flop_count.h"

#include <memory>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

namespace falcon::test {

namespace {

using Counts = std::map<std::string, std::int64_t>;

// A callback of RecordFunction is a plain function: this is its only way to the counts.
thread_local Counts* active_counts = nullptr;

std::int64_t convolution_flops(c10::ArrayRef<const c10::IValue> inputs) {
  const at::Tensor images = inputs[0].toTensor();
  const at::Tensor filter = inputs[1].toTensor();
  const std::vector<std::int64_t> stride = inputs[3].toIntVector();
  const std::vector<std::int64_t> padding = inputs[4].toIntVector();
  const std::vector<std::int64_t> dilation = inputs[5].toIntVector();
  std::int64_t places = images.size(0);
  for (std::int64_t i = 0; i < filter.dim() - 2; ++i) {
    const std::int64_t reach = dilation[i] * (filter.size(i + 2) - 1) + 1;
    places *= (images.size(i + 2) + 2 * padding[i] - reach) / stride[i] + 1;
  }
  return 2 * places * filter.numel();
}

std::int64_t addmm_flops(c10::ArrayRef<const c10::IValue> inputs) {
  const at::Tensor left = inputs[1].toTensor();
  return 2 * left.numel() * inputs[2].toTensor().size(1);
}

/// The two products of each head, whatever back end carries them out.
std::int64_t attention_flops(c10::ArrayRef<const c10::IValue> inputs) {
  const at::Tensor query = inputs[0].toTensor();  // [B, heads, S, D]
  return 4 * query.numel() * inputs[1].toTensor().size(2);
}

std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& call) {
  const std::string name = call.name();
  if (name == "aten::convolution") {
    (*active_counts)["aten.convolution"] += convolution_flops(call.inputs());
  } else if (name == "aten::addmm") {
    (*active_counts)["aten.addmm"] += addmm_flops(call.inputs());
  } else if (name == "aten::scaled_dot_product_attention") {
    (*active_counts)["aten.bmm"] += attention_flops(call.inputs());
  }
  return nullptr;
}

}  // namespace

Counts count_flops(const std::function<void()>& work) {
  Counts counts;
  active_counts = &counts;
  const at::CallbackHandle handle =
      at::addThreadLocalCallback(at::RecordFunctionCallback(count).needsInputs(true));
  work();
  at::removeCallback(handle);
  active_counts = nullptr;
  return counts;
}

}  // namespace falcon::test
