#include "parity/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "parity/tolerances.h"

namespace falcon::test {

namespace {

/// A table of the file: rows are arrays, NAME_columns beside them names the columns.
class Table {
 public:
  Table(const Json& parent, const std::string& name) : rows_(parent.at(name)) {
    std::size_t index = 0;
    for (const Json& column : parent.at(name + "_columns")) {
      columns_[column] = index++;
    }
  }
  const Json& rows() const { return rows_; }
  const Json& at(const Json& row, const std::string& column) const {
    return row.at(columns_.at(column));
  }
  Summary summary(const Json& row, const std::string& suffix) const {
    return {.l2 = at(row, "l2" + suffix), .sum = at(row, "sum" + suffix), .dot = at(row, "dot" + suffix)};
  }
  bool has(const std::string& column) const { return columns_.count(column) > 0; }

 private:
  const Json& rows_;
  std::map<std::string, std::size_t> columns_;
};

const at::Tensor* find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const NamedTensor& entry : tensors) {
    if (entry.name == name) {
      return &entry.tensor;
    }
  }
  return nullptr;
}

std::string shape_text(const at::Tensor& tensor) { return Json(tensor.sizes().vec()).dump(); }

/// Two float32 results may each be r away from the exact one.
constexpr double kTwoRoundings = 2;

/// Rows with l2, sum and dot. probe: "grad/", "tap/", ...; r: the tolerance of a row by its rel32.
template <class ToleranceOf>
void compare_rows(Comparison& result, const Table& table, const std::string& name_column,
                  const std::vector<NamedTensor>& measured, const std::string& probe,
                  ToleranceOf r) {
  for (const Json& row : table.rows()) {
    const std::string name = table.at(row, name_column);
    result.row(name);
    const at::Tensor* tensor = find(measured, name);
    if (tensor == nullptr) {
      result.equal("tensor", name, "none of that name");
      continue;
    }
    if (table.has("shape")) {
      result.equal("shape", table.at(row, "shape").dump(), shape_text(*tensor));
    }
    const Summary actual = summarize(to_doubles(*tensor), probe + name);
    const double ratio = r(table.at(row, "rel32").get<double>());
    result.summary(table.summary(row, ""), actual, ratio);
    if (tensor->scalar_type() == at::kFloat && table.has("l2_f32")) {
      result.summary(table.summary(row, "_f32"), actual, kTwoRoundings * ratio);
    }
  }
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

Comparison compare_taps(const Json& section, const Measured& measured,
                        const Tolerances& tolerances) {
  Comparison result;
  compare_rows(result, Table(section, "taps"), "module", measured.taps, "tap/",
               [&](double rel32) { return tolerances.one_step(rel32); });
  return result;
}

/// zero_grads are 0 in exact arithmetic: what is listed for them is rounding noise.
void compare_gradients(Comparison& result, const Json& section, const Measured& measured,
                       const Tolerances& tolerances) {
  Json parts = {{"grads_columns", section.at("grads_columns")}, {"grads", Json::array()}};
  const std::vector<std::string> zeros = section.at("zero_grads");
  for (const Json& row : section.at("grads")) {
    const std::string name = row.at(0);
    if (std::find(zeros.begin(), zeros.end(), name) == zeros.end()) {
      parts["grads"].push_back(row);
      continue;
    }
    result.row(name);
    const at::Tensor* gradient = find(measured.gradients, name);
    result.near("l2 of a zero gradient", 0,
                gradient != nullptr ? summarize(to_doubles(*gradient), name).l2 : NAN,
                1e-6 * section.at("grad_norm").get<double>());
  }
  compare_rows(result, Table(parts, "grads"), "parameter", measured.gradients, "grad/",
               [&](double rel32) { return tolerances.gradient(rel32); });
  result.whole("all gradients");
  result.equal("gradients", std::to_string(section["grads"].size()),
               std::to_string(measured.gradients.size()));
  const double r = tolerances.gradient(section.at("grad_rel32_all"));
  result.relative("grad_norm", section.at("grad_norm"), measured.gradient_norms.at(0), r);
  if (!tolerances.is_float64) {
    result.relative("grad_norm_f32", section.at("grad_norm_f32"), measured.gradient_norms[0],
                    kTwoRoundings * r);
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
  compare_outputs(result, section, measured, tolerances);
  compare_gradients(result, section, measured, tolerances);
  if (section.contains("buffers_after")) {
    const Table table(section, "buffers_after");
    compare_rows(result, table, "buffer", measured.buffers, "buffer/",
                 [&](double rel32) { return tolerances.one_step(rel32); });
    result.whole("num_batches_tracked");
    result.equal("buffers", std::to_string(table.rows().size()),
                 std::to_string(measured.buffers.size()));
    for (const std::int64_t count : measured.step_counts) {
      result.equal("count", section.at("num_batches_tracked_after").dump(), std::to_string(count));
    }
  }
  return result;
}

void compare_deltas(Comparison& result, const Json& file, const Json& section,
                    const Measured& measured, const Tolerances& tolerances) {
  const std::vector<std::string> zeros = file.at("train_small").at("zero_grads");
  Json parts = {{"delta_columns", section.at("delta_columns")}, {"delta", Json::array()}};
  for (const Json& row : section.at("delta")) {
    const std::string name = row.at(0);
    const at::Tensor* delta = find(measured.deltas, name);
    const bool is_noise = std::find(zeros.begin(), zeros.end(), name) != zeros.end();
    if (tolerances.is_float64 && !is_noise) {
      parts["delta"].push_back(row);
      continue;
    }
    result.row(name);
    const double l2 = delta != nullptr ? summarize(to_doubles(*delta), name).l2 : NAN;
    if (tolerances.is_float64) {
      result.near("l2 of a change by rounding", row.at(1), l2, 1e-9);
    } else {
      result.finite("l2", l2);
    }
  }
  const double r = tolerances.trajectory(0);
  compare_rows(result, Table(parts, "delta"), "tensor", measured.deltas, "delta/",
               [r](double) { return r; });
  result.whole("all changes");
  result.equal("tensors", std::to_string(section["delta"].size()),
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
  return result;
}

}  // namespace

const std::vector<std::string>& sections() {
  static const std::vector<std::string> kSections{
      "tensors",     "eval_small", "taps",           "eval_full",
      "train_small", "trajectory", "trajectory_small_lr"};
  return kSections;
}

Comparison compare(const Json& file, const std::string& section, const Measured& measured,
                   const Precision& precision) {
  const Tolerances tolerances(file.at("model").get<std::string>(), precision.type == at::kDouble);
  if (section == "tensors") {
    return compare_tensors(file, measured);
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
