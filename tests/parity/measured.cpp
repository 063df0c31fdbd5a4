#include "parity/measured.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "models/state.h"
#include "parity/flop_count.h"

namespace falcon::test {

namespace {

std::size_t element_count(const std::vector<std::int64_t>& shape) {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
}

at::Tensor filled(const std::string& key, const std::vector<std::int64_t>& shape, double offset,
                  double scale) {
  std::vector<float> values = fill(key, element_count(shape), offset, scale);
  return at::from_blob(values.data(), shape, at::kFloat).clone();
}

at::Tensor fill_row(const Json& file, const Json& row) {
  const std::string name = row.at(0);
  const std::vector<std::int64_t> shape = row.at(1);
  if (row.at(4).is_null()) {
    return at::zeros(shape, at::kLong);
  }
  return filled(file.at("seed").get<std::string>() + ":" + name, shape, row.at(4), row.at(5));
}

std::vector<NamedTensor> fill_table(const Json& file) {
  std::vector<NamedTensor> values;
  for (const Json& row : file.at("tensors")) {
    values.push_back({row.at(0), fill_row(file, row)});
  }
  return values;
}

/// A list of numbers, or of lists of them.
at::Tensor integers(const Json& json) {
  if (!json.at(0).is_array()) {
    return at::tensor(json.get<std::vector<std::int64_t>>());
  }
  std::vector<at::Tensor> rows;
  for (const Json& row : json) {
    rows.push_back(integers(row));
  }
  return at::stack(rows);
}

/// The tokens of step k of a section; text ("same as eval_small") stands for another section's.
Batch make_tokens(const Json& file, const Json& inputs, int step) {
  if (inputs.is_string()) {
    return make_tokens(file, file.at("eval_small").at("inputs"), step);
  }
  Batch batch;
  const Json& tensors = inputs.is_array() ? inputs.at(step) : inputs;
  for (const auto& [name, values] : tensors.items()) {
    batch.tensors.push_back({name, integers(values)});
  }
  return batch;
}

/// Images and labels of step k: the key of the input may hold {k}, followed by a remark after a
/// comma.
Batch make_batch(const Json& file, const Json& section, int step, const Precision& precision) {
  if (section.contains("inputs")) {
    return make_tokens(file, section["inputs"], step);
  }
  const Json& input = section.at("input");
  std::string key = input.at("key");
  key = key.substr(0, key.find(','));
  if (const auto place = key.find("{k}"); place != std::string::npos) {
    key.replace(place, 3, std::to_string(step));
  }
  at::Tensor images =
      filled(key, input.at("shape"), input.at("offset"), input.at("scale")).to(precision.type);
  if (precision.channels_last) {
    images = images.contiguous(at::MemoryFormat::ChannelsLast);
  }
  Batch batch{{{"images", images}}};
  if (section.contains("labels")) {
    const Json& labels = section["labels"];
    const std::vector<std::int64_t> values = labels.at(0).is_array() ? labels.at(step) : labels;
    batch.tensors.push_back({"labels", at::tensor(values)});
  }
  return batch;
}

std::vector<NamedTensor> named_outputs(const Json& section,
                                       const std::vector<at::Tensor>& outputs) {
  std::vector<NamedTensor> result;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result.push_back({section.at("outputs").at(i).at("name"), outputs[i].detach()});
  }
  return result;
}

std::vector<NamedTensor> floating_buffers(const Model& model) {
  std::vector<NamedTensor> result;
  for (const NamedTensor& buffer : model.buffers()) {
    if (buffer.tensor.is_floating_point()) {
      result.push_back(buffer);
    }
  }
  return result;
}

double gradient_norm(const Model& model) {
  double squares = 0;
  for (const NamedTensor& parameter : model.parameters()) {
    const double norm = at::linalg_vector_norm(parameter.tensor.grad()).item<double>();
    squares += norm * norm;
  }
  return std::sqrt(squares);
}

/// One training step up to the gradients; returns the outputs.
std::vector<at::Tensor> backward(Model& model, const Batch& batch, Measured& measured) {
  for (const NamedTensor& parameter : model.parameters()) {
    parameter.tensor.mutable_grad().reset();
  }
  const std::vector<at::Tensor> outputs = model.forward(batch);
  const at::Tensor loss = model.loss(outputs, batch);
  loss.backward();
  measured.losses.push_back(loss.item<double>());
  measured.gradient_norms.push_back(gradient_norm(model));
  return outputs;
}

/// An optimizer by its definition, with the options of a section.
class PlainOptimizer {
 public:
  explicit PlainOptimizer(const Json& options) : options_(options) {}

  /// norm: of the gradients.
  void step(const Model& model, std::size_t step_index, double norm) {
    const at::NoGradGuard no_grad;
    lr_ = options_.at("lr").at(step_index);
    decay_ = options_.at("weight_decay");
    ++count_;
    const double clip = options_.value("clip_grad_norm", INFINITY);
    const double factor = std::min(1.0, clip / (norm + 1e-6));
    std::size_t i = 0;
    for (const NamedTensor& parameter : model.parameters()) {
      const at::Tensor& gradient = parameter.tensor.grad();
      if (factor < 1) {
        gradient.mul_(factor);
      }
      is_adamw() ? adamw(parameter, gradient, i) : sgd(parameter.tensor, gradient, i);
      ++i;
    }
  }

 private:
  bool is_adamw() const { return options_.at("name") == "AdamW"; }

  /// g += decay * p; v = momentum * v + (1 - dampening) * g, at first v = g; p -= lr * v, or with
  /// Nesterov lr * (g + momentum * v).
  void sgd(const at::Tensor& parameter, const at::Tensor& raw_gradient, std::size_t i) {
    const double momentum = options_.at("momentum");
    const at::Tensor gradient = raw_gradient.add(parameter, decay_);
    if (count_ == 1) {
      first_.push_back(gradient.clone());
    } else {
      first_[i].mul_(momentum).add_(gradient, 1 - options_.at("dampening").get<double>());
    }
    const at::Tensor change =
        options_.at("nesterov").get<bool>() ? gradient.add(first_[i], momentum) : first_[i];
    parameter.sub_(change, lr_);
  }

  /// p *= 1 - lr * decay; m and v are the running means of g and g^2; p -= lr * m' / (sqrt(v') +
  /// eps), m' = m / (1 - beta1^t), v' = v / (1 - beta2^t).
  void adamw(const NamedTensor& parameter, const at::Tensor& gradient, std::size_t i) {
    const double beta1 = options_.at("betas").at(0);
    const double beta2 = options_.at("betas").at(1);
    if (count_ == 1) {
      first_.push_back(at::zeros_like(gradient));
      second_.push_back(at::zeros_like(gradient));
    }
    first_[i].mul_(beta1).add_(gradient, 1 - beta1);
    second_[i].mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
    const bool is_spared =
        parameter.name.ends_with("bias") || parameter.name.find("LayerNorm") != std::string::npos;
    if (!is_spared) {
      parameter.tensor.mul_(1 - lr_ * decay_);
    }
    const at::Tensor root =
        second_[i].div(1 - std::pow(beta2, count_)).sqrt_().add_(options_.at("eps").get<double>());
    parameter.tensor.addcdiv_(first_[i], root, -lr_ / (1 - std::pow(beta1, count_)));
  }

  const Json& options_;
  double lr_ = 0;
  double decay_ = 0;
  int count_ = 0;
  std::vector<at::Tensor> first_, second_;
};

std::unique_ptr<Model> made_model(const Json& file) {
  const Json& config = file.at("config");
  ModelOptions options;
  options.classes = config.value("num_classes", options.classes);
  options.layers = config.value("layers", options.layers);
  options.hidden_size = config.value("hidden", options.hidden_size);
  options.heads = config.value("heads", options.heads);
  options.dropout = 0;  // off in all reference numbers
  return make_model(file.at("model").get<std::string>(), options);
}

Measured measure_eval(const Json& file, const Json& section, const Precision& precision) {
  const at::NoGradGuard no_grad;
  Measured measured;
  const std::unique_ptr<Model> model = filled_model(file, precision);
  model->set_training(false);
  model->set_tap([&measured](std::string_view name, const at::Tensor& value) {
    measured.taps.push_back({std::string(name), value.clone()});
  });
  measured.outputs =
      named_outputs(section, model->forward(make_batch(file, section, 0, precision)));
  return measured;
}

Measured measure_train(const Json& file, const Json& section, const Precision& precision) {
  Measured measured;
  const std::unique_ptr<Model> model = filled_model(file, precision);
  const Batch batch = make_batch(file, section, 0, precision);
  measured.outputs = named_outputs(section, backward(*model, batch, measured));
  for (const NamedTensor& parameter : model->parameters()) {
    measured.gradients.push_back({parameter.name, parameter.tensor.grad()});
  }
  measured.buffers = floating_buffers(*model);
  for (const NamedTensor& buffer : model->buffers()) {
    if (!buffer.tensor.is_floating_point()) {
      measured.step_counts.push_back(buffer.tensor.item<std::int64_t>());
    }
  }
  return measured;
}

Measured measure_trajectory(const Json& file, const Json& section, const Precision& precision) {
  Measured measured;
  const std::unique_ptr<Model> model = filled_model(file, precision);
  {
    PlainOptimizer optimizer(section.at("optimizer"));
    const std::size_t steps = section.at("loss").size();
    for (std::size_t step = 0; step < steps; ++step) {
      backward(*model, make_batch(file, section, static_cast<int>(step), precision), measured);
      optimizer.step(*model, step, measured.gradient_norms.back());
    }
  }
  const std::vector<NamedTensor> ends = model->state();
  std::size_t i = 0;
  for (const Json& row : file.at("tensors")) {
    const NamedTensor& end = ends.at(i++);
    end.tensor.mutable_grad().reset();  // large models: what is no longer needed goes first
    if (end.tensor.is_floating_point()) {
      const at::Tensor start = fill_row(file, row).to(at::kDouble);
      measured.deltas.push_back({end.name, end.tensor.detach().to(at::kDouble).sub(start)});
    }
  }
  return measured;
}

/// Pictures of this height and width, or sequences of this length; their values do not matter.
Batch blank_batch(std::int64_t count, const std::vector<std::int64_t>& size,
                  at::ScalarType floating) {
  if (size.size() == 2) {
    return {{{"images", at::zeros({count, 3, size[0], size[1]}, floating)}}};
  }
  const at::Tensor zeros = at::zeros({count, size.at(0)}, at::kLong);
  return {{{"input_ids", zeros}, {"token_type_ids", zeros}, {"attention_mask", zeros}}};
}

/// One evaluation forward of the listed size.
Measured measure_flops(const Json& file, const Json& section, const Precision& precision) {
  const at::NoGradGuard no_grad;
  Measured measured;
  const std::unique_ptr<Model> model = made_model(file);
  model->to(at::kCPU, precision.type, precision.channels_last);
  model->set_training(false);
  const Batch batch = blank_batch(section.at("batch"), section.at("input"), precision.type);
  measured.flops = count_flops([&] { model->forward(batch); });
  return measured;
}

}  // namespace

std::unique_ptr<Model> filled_model(const Json& file, const Precision& precision) {
  std::unique_ptr<Model> model = made_model(file);
  models::copy_state(*model, fill_table(file), "the reference file");
  model->to(at::kCPU, precision.type, precision.channels_last);
  return model;
}

Measured measure(const Json& file, const std::string& section, const Precision& precision) {
  if (section == "tensors") {
    Measured measured;
    const std::unique_ptr<Model> model = made_model(file);
    measured.state = model->state();
    for (const NamedTensor& parameter : model->parameters()) {
      measured.parameters += parameter.tensor.numel();
    }
    return measured;
  }
  if (section == "flops") {
    return measure_flops(file, file.at(section), precision);
  }
  if (section == "taps") {
    return measure_eval(file, file.at("eval_small"), precision);
  }
  if (section.starts_with("eval")) {
    return measure_eval(file, file.at(section), precision);
  }
  if (section.starts_with("trajectory")) {
    return measure_trajectory(file, file.at(section), precision);
  }
  return measure_train(file, file.at(section), precision);
}

std::vector<double> to_doubles(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kDouble).contiguous();
  const double* data = values.const_data_ptr<double>();
  return {data, data + values.numel()};
}

}  // namespace falcon::test
