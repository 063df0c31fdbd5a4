#include "cli/plan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../plan/made_host.h"
#include "base/json.h"
#include "plan/make.h"

namespace falcon::cli {
namespace {

using testing::HasSubstr;

Plan made_plan() {
  RunSpec given;
  given.name = "made";
  given.model = "mobilenet_v2";
  given.data.format = "synthetic";
  given.data.samples = 1000;
  given.batch_size.per_gpu = 16;
  given.budget.seconds = 2.5;
  const Host host = plan::made_host(2);
  const plan::Placement placement =
      plan::place(plan::resolved_topology(given, host), given.devices, host, SystemFile{});
  const plan::ResolvedSpec resolved =
      plan::resolve(given, {{"budget.seconds", "made.yaml:7"}}, ".", 2, true);
  DataFacts data;
  data.samples = 1000;
  data.classes = 10;
  Plan plan = plan::make(resolved, placement, host, data, "id");
  plan.findings.push_back({"gpu_in_use", "warning", "a GPU is held", "pid 7", "choose another"});
  return plan;
}

// The first line that begins with `name`, after the indentation.
std::string line_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n  " + name + " ");
  return at == std::string::npos ? "" : text.substr(at + 3, text.find('\n', at + 1) - at - 3);
}

TEST(PlanText, EveryValueHasItsOrigin) {
  const std::string text = plan_text(made_plan());
  EXPECT_EQ(line_of(text, "budget.seconds"),
            "budget.seconds               2.5                                  made.yaml:7");
  EXPECT_THAT(line_of(text, "topology"), HasSubstr("host: it has GPUs"));
  EXPECT_THAT(line_of(text, "precision"), HasSubstr("fp16"));
  EXPECT_THAT(line_of(text, "optimizer.lr"), HasSubstr("default of the model mobilenet_v2"));
  EXPECT_THAT(line_of(text, "model_options.classes"), HasSubstr("classes of the data set"));
}

TEST(PlanText, SaysWhatWasDecided) {
  const std::string text = plan_text(made_plan());
  EXPECT_EQ(line_of(text, "parallelism "),
            "parallelism                  ddp, 2 ranks, backend nccl");
  EXPECT_EQ(line_of(text, "batch"), "batch                        16 per rank, 32 in all");
  EXPECT_EQ(line_of(text, "steps     "), "steps                        20 warm-up, 2.5 s measured");
  EXPECT_EQ(line_of(text, "steps in an epoch"),
            "steps in an epoch            31, 8 samples dropped");
  EXPECT_THAT(line_of(text, "rank 1"), HasSubstr("0000:11:00.0 GPU-1, CPUs 8-15"));
  EXPECT_EQ(line_of(text, "warning"),
            "warning                      a GPU is held (pid 7); choose another");
}

TEST(PlanJson, HoldsTheSpecAndTheDecisions) {
  const base::Value json = base::parse_json(plan_json(made_plan()), "plan");
  EXPECT_EQ(json.find_path("spec.batch_size.per_gpu")->as_integer(), 16);
  EXPECT_EQ(json.find("global_batch")->as_integer(), 32);
  EXPECT_EQ(json.find("ranks")->as_list().size(), 2u);
  EXPECT_EQ(json.find("spec_hash")->as_text().size(), 64u);
}

}  // namespace
}  // namespace falcon::cli
