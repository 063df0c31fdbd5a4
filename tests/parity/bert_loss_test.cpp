// The loss of question answering on the logits of bert_loss.json, with positions outside the
// sequence.
#include <iostream>

#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <falconbench/model.h>

#include "parity/measured.h"
#include "support/reference_set.h"

namespace falcon::test {
namespace {

at::Tensor logits_of(const Json& logits, at::ScalarType type) {
  const std::vector<std::int64_t> shape = logits.at("shape");
  std::vector<float> values = fill(logits.at("key").get<std::string>(),
                                   static_cast<std::size_t>(shape[0] * shape[1] * shape[2]),
                                   logits.at("offset"), logits.at("scale"));
  return at::from_blob(values.data(), shape, at::kFloat).to(type).clone().requires_grad_(true);
}

void compare_case(Comparison& comparison, const Json& listed, Model& model, at::ScalarType type) {
  const double r = type == at::kDouble ? 1e-9 : 1e-5;
  const at::Tensor logits = logits_of(listed.at("logits"), type);
  const auto positions = [&](const char* key) {
    return at::tensor(listed.at(key).get<std::vector<std::int64_t>>());
  };
  const Batch batch{{{"start_positions", positions("start_positions")},
                     {"end_positions", positions("end_positions")}}};
  const at::Tensor loss = model.loss(logits.unbind(-1), batch);
  loss.backward();
  comparison.row(listed.at("case"));
  comparison.relative("loss", listed.at("loss"), loss.item<double>(), r);
  const Json& row = listed.at("grad").at(0);
  comparison.summary({.l2 = row.at(1), .sum = row.at(2), .dot = row.at(3)},
                     summarize(to_doubles(logits.grad()), "grad/logits"), r);
}

TEST(ParityBertLoss, FollowsTheReference) {
  const auto file = read_reference("bert_loss.json");
  if (!file) {
    GTEST_SKIP() << "missing bert_loss.json in " << reference_dir();
  }
  const auto model = make_model("bert_base", {.layers = 1, .hidden_size = 8, .heads = 1});
  for (const Precision& precision : {kFloat64, kFloat32}) {
    Comparison comparison;
    for (const Json& listed : file->json.at("cases")) {
      compare_case(comparison, listed, *model, precision.type);
    }
    std::cout << parity_line("bert_loss", precision.name, "cases", comparison) << std::endl;
    EXPECT_TRUE(comparison.passed()) << comparison.worst_text();
  }
}

}  // namespace
}  // namespace falcon::test
