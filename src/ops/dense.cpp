// ops::dense and ops::branched_dense (ops/transformer.h).
#include <algorithm>
#include <utility>

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

/// dy w + beside, in the type of the gradient of x. What is beside is overwritten where nobody else
/// holds it: the product then adds to it as it is written.
at::Tensor input_gradient(const at::Tensor& dy, const at::Tensor& weight, at::Tensor beside,
                          at::ScalarType type) {
  if (!beside.defined()) return at::mm(dy, weight).to(type);
  const bool is_own = beside.scalar_type() == dy.scalar_type() && beside.is_contiguous() &&
                      beside.use_count() == 1 && beside.storage().use_count() == 1;
  return is_own ? beside.addmm_(dy, weight) : at::mm(dy, weight).to(type).add_(beside);
}

class Dense : public torch::autograd::Function<Dense> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& x,
                               at::TensorList weights, at::TensorList biases) {
    const at::ScalarType type = product_type(weights[0]);
    const at::Tensor input = x.to(type);
    const at::Tensor weight = joined(weights, type);
    std::vector<std::int64_t> rows;
    for (const at::Tensor& w : weights) rows.push_back(w.size(0));
    context->save_for_backward({input, weight});
    context->set_materialize_grads(false);
    context->saved_data["rows"] = rows;
    context->saved_data["x_type"] = x.scalar_type();
    context->saved_data["weight_type"] = weights[0].scalar_type();
    context->saved_data["bias_type"] = biases[0].scalar_type();
    return {at::addmm(joined(biases, type), input, weight.t()), x};
  }

  /// By reference: a copy would keep what the gradients lie in from being written over.
  static variable_list backward(AutogradContext* context, variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const std::vector<std::int64_t> rows = context->saved_data["rows"].toIntVector();
    const at::ScalarType weight_type = context->saved_data["weight_type"].toScalarType();
    const at::ScalarType bias_type = context->saved_data["bias_type"].toScalarType();
    const at::ScalarType x_type = context->saved_data["x_type"].toScalarType();
    if (!gradients[0].defined()) {
      variable_list only_beside(1 + 2 * rows.size());
      only_beside[0] = gradients[1];
      return only_beside;
    }
    const at::Tensor dy = gradients[0].contiguous();
    variable_list all{input_gradient(dy, saved[1], std::move(gradients[1]), x_type)};
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
  return branched_dense(x, weights, biases).y;
}

DenseBranch branched_dense(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                           const std::vector<at::Tensor>& biases) {
  const variable_list both = Dense::apply(x, at::TensorList(weights), at::TensorList(biases));
  return {both[0], both[1]};
}

}  // namespace falcon::ops
