#include "parity/measured.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
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

/// What the file's rule does not fill: step counts, and the anchors of a detector in cells.
at::Tensor not_filled(const Json& file, const std::string& name,
                      const std::vector<std::int64_t>& shape) {
  if (!name.ends_with("anchors")) {
    return at::zeros(shape, at::kLong);
  }
  const Json& config = file.at("config");
  std::vector<double> cells;
  for (std::size_t level = 0; level < config.at("strides").size(); ++level) {
    for (const Json& side : config.at("anchors_px").at(level)) {
      cells.push_back(side.get<double>() / config["strides"][level].get<double>());
    }
  }
  return at::tensor(cells, at::kFloat).view(shape);
}

std::vector<NamedTensor> fill_table(const Json& file) {
  std::vector<NamedTensor> values;
  for (const Json& row : file.at("tensors")) {
    const std::string name = row.at(0);
    const std::vector<std::int64_t> shape = row.at(1);
    values.push_back({name, row.at(4).is_null()
                                ? not_filled(file, name, shape)
                                : filled(file.at("seed").get<std::string>() + ":" + name, shape,
                                         row.at(4), row.at(5))});
  }
  return values;
}

/// Images and labels or targets of step k: the key of the input may hold {k}, followed by a remark
/// after a comma.
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
  if (section.contains("targets")) {
    const Json& targets = section["targets"];
    const bool is_by_step = section.contains("optimizer");
    batch.tensors.push_back(
        {"targets", padded_targets(is_by_step ? targets.at(step) : targets, section.at("batch"))});
  }
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
    if (buffer.tensor.is_floating_point() && !buffer.name.ends_with("anchors")) {
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

/// With the gains of the file where it has some: those that a model scales by its size and number
/// of classes are not scaled there.
at::Tensor loss_of(const Json& file, Model& model, const std::vector<at::Tensor>& outputs,
                   const Batch& batch, Measured& measured) {
  const Json& section = file.at("train_small");
  if (!section.contains("hyp")) {
    return model.loss(outputs, batch);
  }
  at::Tensor anchors;
  for (const NamedTensor& buffer : model.buffers()) {
    if (buffer.name.ends_with("anchors")) anchors = buffer.tensor;
  }
  const models::YoloLoss loss =
      models::yolo_loss(outputs, batch["targets"], anchors, yolo_loss_options(section["hyp"]));
  measured.loss_parts.push_back(
      {loss.box.item<double>(), loss.objectness.item<double>(), loss.classes.item<double>()});
  return loss.total;
}

/// One training step up to the gradients; returns the outputs.
std::vector<at::Tensor> backward(const Json& file, Model& model, const Batch& batch,
                                 Measured& measured) {
  for (const NamedTensor& parameter : model.parameters()) {
    parameter.tensor.mutable_grad().reset();
  }
  const std::vector<at::Tensor> outputs = model.forward(batch);
  const at::Tensor loss = loss_of(file, model, outputs, batch, measured);
  loss.backward();
  measured.losses.push_back(loss.item<double>());
  measured.gradient_norms.push_back(gradient_norm(model));
  return outputs;
}

/// SGD by its definition: g clipped to the norm; g += decay * p; v = momentum * v + (1 - dampening)
/// * g, at first v = g; p -= lr * v, or with Nesterov lr * (g + momentum * v). With groups (biases,
/// weights, norm weights) only the second one decays, and a step's lr may be one of each.
class Sgd {
 public:
  explicit Sgd(const Json& options) : options_(options) {}

  void step(const Model& model, std::size_t step_index, double gradient_norm) {
    const at::NoGradGuard no_grad;
    const double momentum = momentum_of(step_index);
    const double limit = options_.value("clip_grad_norm", INFINITY);
    const double clip = std::min(1.0, limit / (gradient_norm + 1e-6));
    const bool is_first = velocity_.empty();
    std::size_t i = 0;
    for (const NamedTensor& parameter : model.parameters()) {
      const std::size_t group = group_of(parameter);
      const bool decays = !options_.contains("groups") || group == 1;
      const at::Tensor gradient = parameter.tensor.grad().mul(clip).add(
          parameter.tensor, decays ? options_.at("weight_decay").get<double>() : 0);
      if (is_first) {
        velocity_.push_back(gradient.clone());
      } else {
        velocity_[i].mul_(momentum).add_(gradient, 1 - options_.at("dampening").get<double>());
      }
      const at::Tensor change =
          options_.at("nesterov").get<bool>() ? gradient.add(velocity_[i], momentum) : velocity_[i];
      const Json& lr = options_.at("lr").at(step_index);
      parameter.tensor.sub_(change, (lr.is_array() ? lr.at(group) : lr).get<double>());
      ++i;
    }
  }

 private:
  static std::size_t group_of(const NamedTensor& parameter) {
    if (parameter.name.ends_with("bias")) return 0;
    return parameter.tensor.dim() == 1 ? 2 : 1;
  }
  double momentum_of(std::size_t step_index) const {
    return options_.contains("momentum_steps") ? options_["momentum_steps"].at(step_index)
                                               : options_.at("momentum");
  }

  const Json& options_;
  std::vector<at::Tensor> velocity_;
};

/// The exponential moving average of a state, as the reference keeps it: decay 0.9999 * (1 -
/// exp(-updates / 2000)), updates counted from 1.
class Average {
 public:
  explicit Average(const Model& model) {
    for (const NamedTensor& entry : model.state()) {
      if (entry.tensor.is_floating_point()) {
        entries_.push_back({entry.name, entry.tensor.detach().clone()});
      }
    }
  }
  void update(const Model& model) {
    const double decay = 0.9999 * (1 - std::exp(-++updates_ / 2000));
    std::size_t i = 0;
    for (const NamedTensor& entry : model.state()) {
      if (entry.tensor.is_floating_point()) {
        entries_[i++].tensor.mul_(decay).add_(entry.tensor.detach(), 1 - decay);
      }
    }
  }
  const std::vector<NamedTensor>& entries() const { return entries_; }

 private:
  std::vector<NamedTensor> entries_;
  double updates_ = 0;
};

std::unique_ptr<Model> made_model(const Json& file) {
  ModelOptions options;
  const Json& config = file.at("config");
  options.classes = config.at(config.contains("nc") ? "nc" : "num_classes");
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
  measured.outputs = named_outputs(section, backward(file, *model, batch, measured));
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
  Average average(*model);
  const std::size_t steps = section.at("loss").size();
  for (std::size_t step = 0; step < steps; ++step) {
    backward(file, *model, make_batch(section, static_cast<int>(step), precision), measured);
    sgd.step(*model, step, measured.gradient_norms.back());
    average.update(*model);
  }
  measured.averages = average.entries();
  std::vector<NamedTensor> ends = model->state();
  std::size_t i = 0;
  for (const NamedTensor& start : fill_table(file)) {
    const NamedTensor& end = ends.at(i++);
    if (end.tensor.is_floating_point() && !end.name.ends_with("anchors")) {
      const at::Tensor delta =
          end.tensor.detach().to(at::kDouble).sub(start.tensor.to(at::kDouble));
      measured.deltas.push_back({end.name, delta});
    }
  }
  return measured;
}

/// One evaluation forward of images of the listed size; their values and type do not matter.
Measured measure_flops(const Json& file, const Json& section, bool channels_last) {
  const at::NoGradGuard no_grad;
  Measured measured;
  const std::unique_ptr<Model> model = made_model(file);
  model->to(at::kCPU, at::kFloat, channels_last);
  model->set_training(false);
  const std::vector<std::int64_t> size = section.at("input");
  const std::vector<std::int64_t> shape{section.at("batch"), 3, size.at(0), size.at(1)};
  const Batch batch{{{"images", at::zeros(shape, at::kFloat)}}};
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
    return measure_flops(file, file.at(section), precision.channels_last);
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

models::YoloLossOptions yolo_loss_options(const Json& hyp) {
  models::YoloLossOptions options;
  options.box_gain = hyp.at("box");
  options.class_gain = hyp.at("cls");
  options.objectness_gain = hyp.at("obj");
  options.anchor_threshold = hyp.at("anchor_t");
  options.label_smoothing = hyp.at("label_smoothing");
  if (hyp.contains("balance")) options.balance = hyp["balance"];
  return options;
}

at::Tensor filled(const std::string& key, const std::vector<std::int64_t>& shape, double offset,
                  double scale) {
  std::vector<float> values = fill(key, element_count(shape), offset, scale);
  return at::from_blob(values.data(), shape, at::kFloat).clone();
}

at::Tensor padded_targets(const Json& rows, std::int64_t images) {
  const auto most = static_cast<std::int64_t>(rows.size()) + 1;  // padding for every image
  const at::Tensor padded = at::full({images, most, 5}, -1, at::kFloat);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(images), 0);
  for (const Json& row : rows) {
    const std::int64_t image = row.at(0);
    const std::vector<float> values(row.begin() + 1, row.end());
    padded[image][counts.at(static_cast<std::size_t>(image))++].copy_(at::tensor(values));
  }
  return padded;
}

std::vector<double> to_doubles(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kDouble).contiguous();
  const double* data = values.const_data_ptr<double>();
  return {data, data + values.numel()};
}

}  // namespace falcon::test
