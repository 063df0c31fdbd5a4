#include "parity/measured.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "models/state.h"
#include "parity/flop_count.h"
#include "parity/plain_optimizer.h"

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

at::Tensor fill_row(const Json& file, const Json& row) {
  const std::string name = row.at(0);
  const std::vector<std::int64_t> shape = row.at(1);
  if (row.at(4).is_null()) {
    return not_filled(file, name, shape);
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

/// Images and labels or targets of step k: the key of the input may hold {k}, followed by a remark
/// after a comma.
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
    // in double: a float32 sum over the largest tensors loses four digits
    const double norm =
        at::linalg_vector_norm(parameter.tensor.grad(), 2, {}, /*keepdim=*/false, at::kDouble)
            .item<double>();
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

std::unique_ptr<Model> made_model(const Json& file) {
  const Json& config = file.at("config");
  ModelOptions options;
  options.classes = config.value("num_classes", config.value("nc", options.classes));
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

/// Always contiguous, as the reference was: several steps multiply what another order of sums
/// rounds otherwise, and the sections of one step compare the other layout.
Measured measure_trajectory(const Json& file, const Json& section, Precision precision) {
  precision.channels_last = false;
  Measured measured;
  const std::unique_ptr<Model> model = filled_model(file, precision);
  Average average(*model);
  {
    PlainOptimizer optimizer(section.at("optimizer"));
    const std::size_t steps = section.at("loss").size();
    for (std::size_t step = 0; step < steps; ++step) {
      const Batch batch = make_batch(file, section, static_cast<int>(step), precision);
      backward(file, *model, batch, measured);
      optimizer.step(*model, step, measured.gradient_norms.back());
      if (section.contains("ema")) average.update(*model);
    }
  }
  if (section.contains("ema")) measured.averages = average.entries();
  const std::vector<NamedTensor> ends = model->state();
  std::size_t i = 0;
  for (const Json& row : file.at("tensors")) {
    const NamedTensor& end = ends.at(i++);
    end.tensor.mutable_grad().reset();  // large models: what is no longer needed goes first
    if (end.tensor.is_floating_point() && !end.name.ends_with("anchors")) {
      const at::Tensor start = fill_row(file, row).to(at::kDouble);
      measured.deltas.push_back({end.name, end.tensor.detach().to(at::kDouble).sub(start)});
    }
  }
  return measured;
}

/// Pictures of this height and width, or sequences of this length; their values do not matter.
Batch blank_batch(std::int64_t count, const std::vector<std::int64_t>& size) {
  if (size.size() == 2) {
    return {{{"images", at::zeros({count, 3, size[0], size[1]}, at::kFloat)}}};
  }
  const at::Tensor zeros = at::zeros({count, size.at(0)}, at::kLong);
  return {{{"input_ids", zeros}, {"token_type_ids", zeros}, {"attention_mask", zeros}}};
}

/// One evaluation forward of the listed size; its values and type do not matter.
Measured measure_flops(const Json& file, const Json& section, bool channels_last) {
  const at::NoGradGuard no_grad;
  Measured measured;
  const std::unique_ptr<Model> model = made_model(file);
  model->to(at::kCPU, at::kFloat, channels_last);
  model->set_training(false);
  const Batch batch = blank_batch(section.at("batch"), section.at("input"));
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
