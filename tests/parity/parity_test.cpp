// The models against the reference numbers: one test a model, floating type and section, over every
// file of FALCONBENCH_REFERENCE_DIR that names the model.
#include <algorithm>
#include <iostream>
#include <tuple>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "models/catalog.h"
#include "parity/compare.h"
#include "parity/measured.h"
#include "parity/tolerances.h"
#include "support/reference_set.h"

namespace falcon::test {
namespace {

using Parameter = std::tuple<std::string, Precision, std::string>;  // model, type, section

class Parity : public testing::TestWithParam<Parameter> {
 protected:
  static void SetUpTestSuite() {
    at::set_num_threads(1);
    files_ = new std::vector<ReferenceFile>(model_files(reference_dir()));
  }
  static void TearDownTestSuite() {
    delete files_;
    files_ = nullptr;
  }
  static std::vector<ReferenceFile>* files_;  // parsed once for all tests
};
std::vector<ReferenceFile>* Parity::files_ = nullptr;

TEST_P(Parity, Section) {
  const auto& [model, precision, section] = GetParam();
  bool has_file = false;
  for (const ReferenceFile& file : *files_) {
    if (file.json["model"] != model) {
      continue;
    }
    has_file = true;
    SCOPED_TRACE(file.path.string());
    const std::string& key = section == "taps" ? "eval_small" : section;
    if (is_optional(section) && !file.json.contains(key)) {
      continue;
    }
    Comparison comparison;
    if (file.json.contains(key) && !file.json[key].empty()) {
      const Measured measured = measure(file.json, section, precision);
      comparison = compare(file.json, section, measured, precision);
    }
    std::cout << parity_line(model, precision.name, section, comparison) << std::endl;
    EXPECT_TRUE(comparison.passed())
        << section << " of " << file.path << ": " << comparison.worst_text();
  }
  if (!has_file) {
    GTEST_SKIP() << "no file of " << reference_dir() << " names the model " << model << " (missing "
                 << model << ".json)";
  }
}

/// Every model with every type and section; small rates are listed for models with jumps only.
std::vector<Parameter> parameters() {
  std::vector<Parameter> all;
  for (const std::string& model : models::model_names()) {
    for (const Precision& precision : {kFloat64, kFloat32}) {
      for (const std::string& section : sections()) {
        const bool has_jumps = Tolerances(model, true).has_jumps;
        if (section != "trajectory_small_lr" || has_jumps) {
          all.emplace_back(model, precision, section);
        }
      }
    }
  }
  return all;
}

std::string test_name(const testing::TestParamInfo<Parameter>& test) {
  const auto& [model, precision, section] = test.param;
  return model + "_" + precision.name + "_" + section;
}

INSTANTIATE_TEST_SUITE_P(Models, Parity, testing::ValuesIn(parameters()), test_name);

TEST(ReferenceSet, CtestHasAnEntryForEveryModel) {
  std::string names;
  for (const std::string& name : models::model_names()) {
    names += name + " ";
  }
  EXPECT_EQ(names, FALCON_PARITY_ENTRIES);
}

TEST(ReferenceSet, NamesTheFilesOfModelsNotKnownYet) {
  const std::vector<std::string> known = models::model_names();
  std::string unknown;
  for (const ReferenceFile& file : model_files(reference_dir())) {
    if (std::find(known.begin(), known.end(), file.json["model"]) == known.end()) {
      unknown += " " + file.path.filename().string();
    }
  }
  if (!unknown.empty()) {
    GTEST_SKIP() << "models not in the catalog:" << unknown;
  }
}

}  // namespace
}  // namespace falcon::test
