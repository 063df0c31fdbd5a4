// Start values against the statistics that the reference lists of one of its draws.
#include <cmath>
#include <iostream>
#include <stdexcept>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <falconbench/model.h>

#include "models/catalog.h"
#include "support/reference_set.h"

namespace falcon::test {
namespace {

at::Tensor find(const Model& model, const std::string& name) {
  for (const NamedTensor& entry : model.state()) {
    if (entry.name == name) {
      return entry.tensor.detach().to(at::kDouble);
    }
  }
  throw std::out_of_range(name);
}

/// Mean and standard deviation within six standard errors of theirs (the listed draw has its own),
/// extremes within the range of the listed draw widened by a quarter.
void compare_statistics(Comparison& result, const at::Tensor& tensor, const Json& listed) {
  const double stddev = listed.at("std");
  const double count = static_cast<double>(tensor.numel());
  const double standard_error = stddev / std::sqrt(count);
  const double rounding = 1e-3 * stddev;  // the listed numbers have four digits
  const double mean = tensor.mean().item<double>();
  const double deviation = std::sqrt(tensor.sub(mean).square().mean().item<double>());
  const double range = listed.at("max").get<double>() - listed.at("min").get<double>();
  result.near("mean", listed.at("mean"), mean, 6 * std::sqrt(2.0) * standard_error + rounding);
  result.near("std", stddev, deviation, 6 * standard_error + rounding);
  result.near("min", listed.at("min"), tensor.min().item<double>(), 0.25 * range);
  result.near("max", listed.at("max"), tensor.max().item<double>(), 0.25 * range);
}

/// The file lists a family once, by its name or that of its smallest member.
const Json& entry_of(const Json& file, const std::string& model) {
  for (const auto& [family, entry] : file.items()) {
    if (entry.is_object() && model.starts_with(family)) {
      return entry;
    }
  }
  throw std::out_of_range(model);
}

ModelOptions options_of(const std::string& model) {
  return model.starts_with("yolov5") ? ModelOptions{.classes = 80} : ModelOptions{};
}

class ParityInit : public testing::TestWithParam<std::string> {};

TEST_P(ParityInit, HasTheStatisticsOfTheReference) {
  const auto file = read_reference("init.json");
  if (!file) {
    GTEST_SKIP() << "missing init.json in " << reference_dir();
  }
  const std::unique_ptr<Model> model = make_model(GetParam(), options_of(GetParam()));
  model->initialize(0);
  Comparison comparison;
  for (const auto& [name, listed] : entry_of(file->json, GetParam()).at("measured").items()) {
    comparison.row(name);
    compare_statistics(comparison, find(*model, name), listed);
  }
  std::cout << parity_line(GetParam(), "float32", "init", comparison) << std::endl;
  EXPECT_TRUE(comparison.passed()) << comparison.worst_text();
}

TEST(ParityInitRows, PaddingRowOfWordEmbeddingsIsZero) {
  const auto file = read_reference("init.json");
  if (!file) {
    GTEST_SKIP() << "missing init.json in " << reference_dir();
  }
  const std::unique_ptr<Model> model = make_model("bert_base", {.layers = 1});
  model->initialize(1);
  const at::Tensor words = find(*model, "bert.embeddings.word_embeddings.weight");
  EXPECT_EQ(words.select(0, 0).abs().max().item<double>(),
            file->json.at("bert").at("word_embeddings_row0_absmax").get<double>());
  EXPECT_GT(words.select(0, 1).abs().max().item<double>(), 0.02);
}

std::vector<std::string> listed_models() {
  std::vector<std::string> names;
  for (const std::string& name : models::model_names()) {
    if (!name.starts_with("yolov5") || name == "yolov5n") names.push_back(name);
  }
  return names;
}

std::string model_name(const testing::TestParamInfo<std::string>& test) {
  return test.param;
}

INSTANTIATE_TEST_SUITE_P(Models, ParityInit, testing::ValuesIn(listed_models()), model_name);

}  // namespace
}  // namespace falcon::test
