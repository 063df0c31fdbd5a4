#include "parity/compare.h"

#include <algorithm>
#include <cmath>

#include "parity/tolerances.h"

namespace falcon::test {

namespace {

Summary listed(const Table& table, const Json& row, const std::string& suffix) {
  return {.l2 = table.at(row, "l2" + suffix),
          .sum = table.at(row, "sum" + suffix),
          .dot = table.at(row, "dot" + suffix)};
}

const at::Tensor* find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const NamedTensor& entry : tensors) {
    if (entry.name == name) {
      return &entry.tensor;
    }
  }
  return nullptr;
}

std::string shape_text(const at::Tensor& tensor) {
  return Json(tensor.sizes().vec()).dump();
}

/// Two float32 results may each be r away from the exact one.
constexpr double kTwoRoundings = 2;

/// The numbers of one row with l2, sum and dot; probe: the key of dot without "probe:".
void compare_row(Comparison& result, const Table& table, const Json& row, const at::Tensor& tensor,
                 const std::string& probe, double r) {
  if (table.has("shape")) {
    result.equal("shape", table.at(row, "shape").dump(), shape_text(tensor));
  }
  const Summary actual = summarize(to_doubles(tensor), probe);
  result.summary(listed(table, row, ""), actual, r);
  if (tensor.scalar_type() == at::kFloat && table.has("l2_f32")) {
    result.summary(listed(table, row, "_f32"), actual, kTwoRoundings * r);
  }
}

/// Calls visit(row, name, tensor) for every row of the table; a row whose tensor was not measured
/// is wrong.
template <class Visit>
void for_each_row(Comparison& result, const Table& table, const std::string& name_column,
                  const std::vector<NamedTensor>& measured, Visit visit) {
  for (const Json& row : table.rows()) {
    const std::string name = table.at(row, name_column);
    result.row(name);
    const at::Tensor* tensor = find(measured, name);
    if (tensor == nullptr) {
      result.equal("tensor", name, "none of that name");
    } else {
      visit(row, name, *tensor);
    }
  }
}

double l2(const at::Tensor& tensor) {
  return summarize(to_doubles(tensor), "").l2;
}

bool contains(const Json& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The sampled elements of an output; `column` is value or value_f32.
void compare_samples(Comparison& result, const Json& expected, const std::string& column,
                     const std::vector<double>& values, double r) {
  const Json& index = expected.at("index");
  for (std::size_t k = 0; k < expected.at(column).size(); ++k) {
    const std::size_t place = index.is_array() ? index.at(k).get<std::size_t>() : k;
    result.sample(place, expected[column][k], place < values.size() ? values[place] : NAN,
                  expected.at("l2"), values.size(), r);
  }
}

void compare_output(Comparison& result, const Json& expected, const at::Tensor& tensor,
                    const Tolerances& tolerances) {
  result.equal("shape", expected.at("shape").dump(), shape_text(tensor));
  const std::vector<double> values = to_doubles(tensor);
  const Summary actual = summarize(values, expected.at("name").get<std::string>());
  const double r = tolerances.one_step(expected.at("rel32"));
  const double l2 = expected.at("l2");
  const double typical = l2 / std::sqrt(static_cast<double>(values.size()));
  result.near("l2", l2, actual.l2, r * l2);
  result.near("dot", expected.at("dot"), actual.dot, 10 * r * l2);
  result.near("mean", expected.at("mean"), actual.mean, r * typical);
  result.near("absmean", expected.at("absmean"), actual.absmean, r * typical);
  compare_samples(result, expected, "value", values, r);
  if (!tolerances.is_float64) {
    result.relative("l2_f32", expected.at("l2_f32"), actual.l2, kTwoRoundings * r);
    compare_samples(result, expected, "value_f32", values, kTwoRoundings * r);
  }
}

void compare_outputs(Comparison& result, const Json& section, const Measured& measured,
                     const Tolerances& tolerances) {
  const Json& outputs = section.at("outputs");
  result.whole("outputs");
  result.equal("count", std::to_string(outputs.size()), std::to_string(measured.outputs.size()));
  for (std::size_t i = 0; i < std::min(outputs.size(), measured.outputs.size()); ++i) {
    result.row(outputs[i].at("name"));
    compare_output(result, outputs[i], measured.outputs[i].tensor, tolerances);
  }
}

Comparison compare_tensors(const Json& file, const Measured& measured) {
  Comparison result;
  const Table table(file, "tensors");
  std::size_t i = 0;
  for (const Json& row : table.rows()) {
    const std::string name = table.at(row, "name");
    result.row(name);
    if (i >= measured.state.size()) {
      result.equal("entry", name, "end of the state");
      break;
    }
    const NamedTensor& entry = measured.state[i++];
    const bool is_float = entry.tensor.is_floating_point();
    result.equal("name", name, entry.name);
    result.equal("shape", table.at(row, "shape").dump(), shape_text(entry.tensor));
    result.equal("dtype", table.at(row, "dtype"), is_float ? "float32" : "int64");
    result.equal("role", table.at(row, "role"), entry.tensor.requires_grad() ? "param" : "buffer");
    const auto range = fill_rule(name, table.at(row, "shape"));
    result.equal("fill_offset", table.at(row, "fill_offset").dump(),
                 range ? Json(range->offset).dump() : "null");
    result.equal("fill_scale", table.at(row, "fill_scale").dump(),
                 range ? Json(range->scale).dump() : "null");
  }
  result.whole("count");
  result.equal("entries", std::to_string(table.rows().size()),
               std::to_string(measured.state.size()));
  result.equal("parameters", file.at("parameters").dump(), std::to_string(measured.parameters));
  return result;
}

Comparison compare_flops(const Json& section, const Measured& measured) {
  Comparison result;
  std::int64_t total = 0;
  for (const auto& [name, expected] : section.at("by_op").items()) {
    const auto found = measured.flops.find(name);
    const std::int64_t actual = found == measured.flops.end() ? 0 : found->second;
    result.row(name);
    result.equal("flops", expected.dump(), std::to_string(actual));
    total += actual;
  }
  result.whole("sum");
  result.equal("forward_flops", section.at("forward_flops").dump(), std::to_string(total));
  result.equal("forward_macs", section.at("forward_macs").dump(), std::to_string(total / 2));
  return result;
}

Comparison compare_taps(const Json& section, const Measured& measured,
                        const Tolerances& tolerances) {
  Comparison result;
  const Table table(section, "taps");
  for_each_row(result, table, "module", measured.taps,
               [&](const Json& row, const std::string& name, const at::Tensor& tap) {
                 const double r = tolerances.one_step(table.at(row, "rel32"));
                 compare_row(result, table, row, tap, "tap/" + name, r);
               });
  return result;
}

/// zero_grads are 0 in exact arithmetic: what is listed for them is rounding noise.
void compare_gradients(Comparison& result, const Json& section, const Measured& measured,
                       const Tolerances& tolerances) {
  const Table table(section, "grads");
  const double norm = section.at("grad_norm");
  for_each_row(result, table, "parameter", measured.gradients,
               [&](const Json& row, const std::string& name, const at::Tensor& gradient) {
                 if (contains(section.at("zero_grads"), name)) {
                   result.near("l2 of a zero gradient", 0, l2(gradient), 1e-6 * norm);
                 } else {
                   const double r = tolerances.gradient(table.at(row, "rel32"));
                   compare_row(result, table, row, gradient, "grad/" + name, r);
                 }
               });
  result.whole("all gradients");
  result.equal("gradients", std::to_string(table.rows().size()),
               std::to_string(measured.gradients.size()));
  const double r = tolerances.gradient(section.at("grad_rel32_all"));
  result.relative("grad_norm", norm, measured.gradient_norms.at(0), r);
  if (!tolerances.is_float64) {
    result.relative("grad_norm_f32", section.at("grad_norm_f32"), measured.gradient_norms[0],
                    kTwoRoundings * r);
  }
}

void compare_buffers(Comparison& result, const Json& section, const Measured& measured,
                     const Tolerances& tolerances) {
  const Table table(section, "buffers_after");
  for_each_row(result, table, "buffer", measured.buffers,
               [&](const Json& row, const std::string& name, const at::Tensor& buffer) {
                 const double r = tolerances.one_step(table.at(row, "rel32"));
                 compare_row(result, table, row, buffer, "buffer/" + name, r);
               });
  result.whole("all buffers");
  result.equal("buffers", std::to_string(table.rows().size()),
               std::to_string(measured.buffers.size()));
  for (const std::int64_t count : measured.step_counts) {
    result.equal("num_batches_tracked", section.at("num_batches_tracked_after").dump(),
                 std::to_string(count));
  }
}

/// The parts of step `step`, of a file that lists some.
void compare_parts(Comparison& result, const Json& parts, const Measured& measured,
                   std::size_t step, double r) {
  const Json& listed = parts.at("f64").at(0).is_array() ? parts["f64"].at(step) : parts["f64"];
  for (std::size_t i = 0; i < listed.size(); ++i) {
    result.relative(parts.at("names").at(i).get<std::string>(), listed[i],
                    measured.loss_parts.at(step).at(i), r);
  }
}

Comparison compare_train(const Json& section, const Measured& measured,
                         const Tolerances& tolerances) {
  Comparison result;
  // The loss loses in float32 what the outputs lose.
  const double r = tolerances.one_step(section.at("outputs").at(0).at("rel32"));
  result.row("loss");
  result.relative("loss", section.at("loss"), measured.losses.at(0), r);
  if (!tolerances.is_float64) {
    result.relative("loss_f32", section.at("loss_f32"), measured.losses[0], kTwoRoundings * r);
  }
  if (section.contains("loss_parts")) {
    compare_parts(result, section["loss_parts"], measured, 0, r);
  }
  compare_outputs(result, section, measured, tolerances);
  compare_gradients(result, section, measured, tolerances);
  if (section.contains("buffers_after")) {
    compare_buffers(result, section, measured, tolerances);
  }
  return result;
}

/// The change of a tensor whose gradient is 0 in exact arithmetic is noise too.
void compare_deltas(Comparison& result, const Json& file, const Json& section,
                    const Measured& measured, const Tolerances& tolerances) {
  const Json& zeros = file.at("train_small").at("zero_grads");
  const Table table(section, "delta");
  for_each_row(result, table, "tensor", measured.deltas,
               [&](const Json& row, const std::string& name, const at::Tensor& delta) {
                 if (!tolerances.is_float64) {
                   result.finite("l2", l2(delta));
                 } else if (contains(zeros, name)) {
                   result.near("l2 of noise", table.at(row, "l2"), l2(delta), 1e-9);
                 } else {
                   const double r = tolerances.trajectory(0);
                   compare_row(result, table, row, delta, "delta/" + name, r);
                 }
               });
  result.whole("all changes");
  result.equal("tensors", std::to_string(table.rows().size()),
               std::to_string(measured.deltas.size()));
}

Comparison compare_trajectory(const Json& file, const Json& section, const Measured& measured,
                              const Tolerances& tolerances) {
  Comparison result;
  const std::vector<double> rel32 = section.at("loss_rel32");
  const double largest = *std::max_element(rel32.begin(), rel32.end());
  for (std::size_t step = 0; step < section.at("loss").size(); ++step) {
    result.row("step " + std::to_string(step));
    const double norm = measured.gradient_norms.at(step);
    if (tolerances.compares_all_losses()) {
      const double r = tolerances.trajectory(largest);
      result.relative("loss", section["loss"][step], measured.losses.at(step), r);
      // in float32 the parts may lose more than their sum, for which the tolerance is measured
      if (section.contains("loss_parts") && tolerances.is_float64) {
        compare_parts(result, section["loss_parts"], measured, step, r);
      }
    } else if (step == 0) {
      result.relative("loss", section["loss"][0], measured.losses[0],
                      tolerances.one_step(rel32[0]));
    }
    if (tolerances.is_float64) {
      result.relative("grad_norm", section.at("grad_norm_before_clip").at(step), norm,
                      tolerances.trajectory(0));
    }
    result.finite("loss", measured.losses.at(step));
    result.finite("grad_norm", norm);
  }
  compare_deltas(result, file, section, measured, tolerances);
  if (section.contains("ema")) {
    const Table table(section, "ema");
    for_each_row(result, table, "tensor", measured.averages,
                 [&](const Json& row, const std::string& name, const at::Tensor& average) {
                   if (!tolerances.is_float64) {
                     result.finite("l2", l2(average));
                   } else {
                     compare_row(result, table, row, average, "ema/" + name,
                                 tolerances.trajectory(0));
                   }
                 });
  }
  return result;
}

}  // namespace

const std::vector<std::string>& sections() {
  static const std::vector<std::string> kSections{
      "tensors",          "flops",       "eval_small", "taps",
      "eval_full",        "train_small", "trajectory", "trajectory_small_lr",
      "trajectory_warmup"};
  return kSections;
}

bool is_optional(const std::string& section) {
  return section.starts_with("trajectory_");
}

Comparison compare(const Json& file, const std::string& section, const Measured& measured,
                   const Precision& precision) {
  const Tolerances tolerances(file.at("model").get<std::string>(), precision.type == at::kDouble);
  if (section == "tensors") {
    return compare_tensors(file, measured);
  }
  if (section == "flops") {
    return compare_flops(file.at(section), measured);
  }
  if (section == "taps") {
    return compare_taps(file.at("eval_small"), measured, tolerances);
  }
  if (section.starts_with("eval")) {
    Comparison result;
    compare_outputs(result, file.at(section), measured, tolerances);
    return result;
  }
  if (section.starts_with("trajectory")) {
    return compare_trajectory(file, file.at(section), measured, tolerances);
  }
  return compare_train(file.at(section), measured, tolerances);
}

}  // namespace falcon::test
