#include "parity/measured.h"

#include <cmath>
#include <functional>
#include <numeric>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

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

std::vector<NamedTensor> fill_table(const Json& file) {
  std::vector<NamedTensor> values;
  for (const Json& row : file.at("tensors")) {
    const std::string name = row.at(0);
    const std::vector<std::int64_t> shape = row.at(1);
    values.push_back({name, row.at(4).is_null()
                                ? at::zeros(shape, at::kLong)
                                : filled(file.at("seed").get<std::string>() + ":" + name, shape,
                                         row.at(4), row.at(5))});
  }
  return values;
}

/// Images and labels of step k: the key of the input may hold {k}, followed by a remark after a
/// comma.
Batch make_batch(const Json& section, int step, const Precision& precision) {
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

/// SGD by its definition: g += decay * p; v = momentum * v + (1 - dampening) * g, at first v = g; p
/// -= lr * v, or with Nesterov lr * (g + momentum * v).
class Sgd {
 public:
  explicit Sgd(const Json& options) : options_(options) {}

  void step(const Model& model, std::size_t step_index) {
    const at::NoGradGuard no_grad;
    const double momentum = options_.at("momentum");
    const bool is_first = velocity_.empty();
    std::size_t i = 0;
    for (const NamedTensor& parameter : model.parameters()) {
      const at::Tensor gradient =
          parameter.tensor.grad().add(parameter.tensor, options_.at("weight_decay").get<double>());
      if (is_first) {
        velocity_.push_back(gradient.clone());
      } else {
        velocity_[i].mul_(momentum).add_(gradient, 1 - options_.at("dampening").get<double>());
      }
      const at::Tensor change =
          options_.at("nesterov").get<bool>() ? gradient.add(velocity_[i], momentum) : velocity_[i];
      parameter.tensor.sub_(change, options_.at("lr").at(step_index).get<double>());
      ++i;
    }
  }

 private:
  const Json& options_;
  std::vector<at::Tensor> velocity_;
};

std::unique_ptr<Model> made_model(const Json& file) {
  ModelOptions options;
  options.classes = file.at("config").at("num_classes");
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
  measured.outputs = named_outputs(section, model->forward(make_batch(section, 0, precision)));
  return measured;
}

Measured measure_train(const Json& file, const Json& section, const Precision& precision) {
  Measured measured;
  const std::unique_ptr<Model> model = filled_model(file, precision);
  const Batch batch = make_batch(section, 0, precision);
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
  Sgd sgd(section.at("optimizer"));
  const std::size_t steps = section.at("loss").size();
  for (std::size_t step = 0; step < steps; ++step) {
    backward(*model, make_batch(section, static_cast<int>(step), precision), measured);
    sgd.step(*model, step);
  }
  std::vector<NamedTensor> ends = model->state();
  std::size_t i = 0;
  for (const NamedTensor& start : fill_table(file)) {
    const NamedTensor& end = ends.at(i++);
    if (end.tensor.is_floating_point()) {
      const at::Tensor delta =
          end.tensor.detach().to(at::kDouble).sub(start.tensor.to(at::kDouble));
      measured.deltas.push_back({end.name, delta});
    }
  }
  return measured;
}

/// One evaluation forward of images of the listed size; their values do not matter.
Measured measure_flops(const Json& file, const Json& section, const Precision& precision) {
  const at::NoGradGuard no_grad;
  Measured measured;
  const std::unique_ptr<Model> model = made_model(file);
  model->to(at::kCPU, precision.type, precision.channels_last);
  model->set_training(false);
  const std::vector<std::int64_t> size = section.at("input");
  const std::vector<std::int64_t> shape{section.at("batch"), 3, size.at(0), size.at(1)};
  const Batch batch{{{"images", at::zeros(shape, precision.type)}}};
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
