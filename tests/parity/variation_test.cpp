// Nothing of the reference set is written into the parity tests: a set of another seed, class
// count, image size, batch and number of steps passes without change of code. Its numbers are the
// models' own in float64, so this says nothing about the models; that float32 and the shipped set
// agree does.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/compare.h"
#include "parity/measured.h"
#include "parity/program.h"
#include "support/reference_set.h"

namespace falcon::test {
namespace {

constexpr int kClasses = 7;
constexpr int kBatch = 3;
constexpr int kSteps = 2;
const char* const kSeed = "another-seed";

void vary_section(Json& section, int height, int width) {
  const bool is_trajectory = section.contains("optimizer");
  section["batch"] = kBatch;
  section["hw"] = {height, width};
  section["input"]["key"] = std::string(kSeed) + (is_trajectory ? ":batch-{k}, k = 0..1" : ":x");
  section["input"]["shape"] = {kBatch, 3, height, width};
  const Json labels = {kClasses - 1, 0, 3};
  if (is_trajectory) {
    section["labels"] = {labels, {1, 2, 5}};
    section["optimizer"]["lr"] = {0.02, 0.01};
    section["optimizer"]["momentum"] = 0.5;
    section["loss_rel32"] = {1e-6, 1e-6};
  } else if (section.contains("labels")) {
    section["labels"] = labels;
  }
}

/// The classifier's rows for the new class count: shapes, and the number of parameters.
void vary_table(Json& file) {
  for (Json& row : file["tensors"]) {
    if (row[0].get<std::string>().starts_with("classifier.1.")) {
      file["parameters"] = file["parameters"].get<int>() -
                           row[1][0].get<int>() * (row[1].size() == 2 ? 1280 : 1) +
                           kClasses * (row[1].size() == 2 ? 1280 : 1);
      row[1][0] = kClasses;
    }
  }
}

void write_row(Json& row, const std::vector<NamedTensor>& tensors, const std::string& probe,
               std::size_t first_column) {
  for (const NamedTensor& entry : tensors) {
    if (entry.name == row[0]) {
      const Summary summary = summarize(to_doubles(entry.tensor), probe + entry.name);
      row[first_column] = summary.l2;
      row[first_column + 1] = summary.sum;
      row[first_column + 2] = summary.dot;
      if (first_column == 2) {
        row[1] = entry.tensor.sizes().vec();
      }
    }
  }
}

void write_rows(Json& rows, const std::vector<NamedTensor>& tensors, const std::string& probe,
                std::size_t first_column) {
  for (Json& row : rows) {
    write_row(row, tensors, probe, first_column);
  }
}

/// Sets outputs from the measured ones, every element listed.
void write_output(Json& output, const at::Tensor& tensor) {
  const std::vector<double> values = to_doubles(tensor);
  const Summary summary = summarize(values, output["name"].get<std::string>());
  output["shape"] = tensor.sizes().vec();
  output["l2"] = output["l2_f32"] = summary.l2;
  output["dot"] = summary.dot;
  output["mean"] = summary.mean;
  output["absmean"] = summary.absmean;
  output["index"] = "all";
  output["value"] = output["value_f32"] = values;
}

void renumber_flops(Json& file) {
  Json& json = file["flops"];
  std::int64_t total = 0;
  for (const auto& [name, count] : measure(file, "flops", kFloat64).flops) {
    json["by_op"][name] = count;
    total += count;
  }
  json["forward_flops"] = total;
  json["forward_macs"] = total / 2;
}

void renumber(Json& file, const std::string& section) {
  const Measured measured = measure(file, section, kFloat64);
  Json& json = file[section];
  if (json.contains("outputs")) {
    write_output(json["outputs"][0], measured.outputs[0].tensor);
  }
  if (json.contains("taps")) {
    write_rows(json["taps"], measured.taps, "tap/", 2);
  }
  if (json.contains("grads")) {
    json["loss"] = json["loss_f32"] = measured.losses[0];
    json["grad_norm"] = json["grad_norm_f32"] = measured.gradient_norms[0];
    write_rows(json["grads"], measured.gradients, "grad/", 1);
    write_rows(json["buffers_after"], measured.buffers, "buffer/", 1);
  }
  if (json.contains("delta")) {
    json["loss"] = measured.losses;
    json["grad_norm_before_clip"] = measured.gradient_norms;
    write_rows(json["delta"], measured.deltas, "delta/", 1);
  }
}

Json varied_file() {
  Json file = shipped("mobilenet_v2.json");
  file["seed"] = kSeed;
  file["config"]["num_classes"] = kClasses;
  file["flops"]["input"] = {64, 32};
  vary_table(file);
  renumber_flops(file);
  for (const std::string& section : sections()) {
    if (file.contains(section) && section != "tensors" && section != "flops") {
      vary_section(file[section], 64, section == "eval_full" ? 96 : 32);
      if (section.starts_with("trajectory")) {
        file[section]["loss"] = std::vector<double>(kSteps, 0);
      }
      renumber(file, section);
    }
  }
  return file;
}

TEST(ParityVariation, OfSeedClassesSizesBatchAndStepsPasses) {
  at::set_num_threads(1);
  const Json file = varied_file();
  const ReferenceFolder folder("falcon_parity_variation");
  folder.write("small_set.json", file);
  const ProgramResult result =
      run_parity(folder, "*mobilenet_v2_float64_*:*mobilenet_v2_float32_eval*:*float32_taps");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output,
              testing::HasSubstr("parity mobilenet_v2 float64 trajectory rows=264 "));
  EXPECT_EQ(file["flops"]["by_op"]["aten.addmm"], 2 * 1280 * kClasses);
  EXPECT_EQ(file["train_small"]["outputs"][0]["shape"], (Json{kBatch, kClasses}));
  EXPECT_EQ(file["trajectory"]["loss"].size(), std::size_t{kSteps});
}

}  // namespace
}  // namespace falcon::test
