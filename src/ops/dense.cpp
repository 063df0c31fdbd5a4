// ops::dense (ops/transformer.h).
#include <algorithm>

#include <ATen/autocast_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include "ops/column_sum.h"
#include "ops/transformer.h"

namespace falcon::ops {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::ScalarType product_type(const at::Tensor& weight) {
  const at::DeviceType device = weight.device().type();
  return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                   : weight.scalar_type();
}

/// Whether they lie one after another in one memory, as they would joined.
bool are_neighbours(at::TensorList tensors) {
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    const at::Tensor& before = tensors[i - 1];
    if (!tensors[i].is_contiguous() || !before.is_contiguous() || !tensors[i].is_alias_of(before) ||
        tensors[i].storage_offset() != before.storage_offset() + before.numel()) {
      return false;
    }
  }
  return true;
}

/// The tensors one after another along their first axis, in this type: one kernel, which converts,
/// too; or none, where they are so already.
at::Tensor joined(at::TensorList tensors, at::ScalarType type) {
  std::vector<std::int64_t> shape = tensors[0].sizes().vec();
  shape[0] = 0;
  for (const at::Tensor& tensor : tensors) shape[0] += tensor.size(0);
  if (tensors[0].scalar_type() == type && are_neighbours(tensors)) {
    return tensors[0].detach().as_strided(shape, tensors[0].strides());
  }
  const at::Tensor all = at::empty(shape, tensors[0].options().dtype(type).requires_grad(false));
  std::vector<at::Tensor> parts;
  std::int64_t begin = 0;
  for (const at::Tensor& tensor : tensors) {
    parts.push_back(all.narrow(0, begin, tensor.size(0)));
    begin += tensor.size(0);
  }
  at::_foreach_copy_(parts, tensors);
  return all;
}

/// dy^T x, accumulated and kept in `type`.
at::Tensor weight_gradient(const at::Tensor& dy, const at::Tensor& x, at::ScalarType type) {
  if (dy.scalar_type() == type) return at::mm(dy.t(), x);
  if (dy.is_cuda() && type == at::kFloat) return at::mm(dy.t(), x, type);
  return at::mm(dy.t(), x).to(type);
}

class Dense : public torch::autograd::Function<Dense> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, at::TensorList weights,
                            at::TensorList biases) {
    const at::ScalarType type = product_type(weights[0]);
    const at::Tensor input = x.to(type);
    const at::Tensor weight = joined(weights, type);
    std::vector<std::int64_t> rows;
    for (const at::Tensor& w : weights) rows.push_back(w.size(0));
    context->save_for_backward({input, weight});
    context->saved_data["rows"] = rows;
    context->saved_data["x_type"] = x.scalar_type();
    context->saved_data["weight_type"] = weights[0].scalar_type();
    context->saved_data["bias_type"] = biases[0].scalar_type();
    return at::addmm(joined(biases, type), input, weight.t());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const std::vector<std::int64_t> rows = context->saved_data["rows"].toIntVector();
    const at::ScalarType weight_type = context->saved_data["weight_type"].toScalarType();
    const at::ScalarType bias_type = context->saved_data["bias_type"].toScalarType();
    const at::Tensor dy = gradients[0].contiguous();
    variable_list all{at::mm(dy, saved[1]).to(context->saved_data["x_type"].toScalarType())};
    const at::Tensor dweight = weight_gradient(dy, saved[0], weight_type);
    const at::Tensor dbias = column_sum(dy, bias_type);
    for (const at::Tensor& whole : {dweight, dbias}) {
      std::int64_t begin = 0;
      for (const std::int64_t count : rows) {
        all.push_back(whole.narrow(0, begin, count));
        begin += count;
      }
    }
    return all;
  }
};

}  // namespace

at::Tensor dense(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                 const std::vector<at::Tensor>& biases) {
  return Dense::apply(x, at::TensorList(weights), at::TensorList(biases));
}

}  // namespace falcon::ops
