#include "falconbench/catalog.h"

#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codec_describe.h"
#include "base/files.h"
#include "base/json.h"

namespace falcon {
namespace {

using testing::ElementsAre;

void collect_lists(const base::FieldInfo& info, std::set<std::string>& lists) {
  if (info.rule.words[0] != '\0') lists.insert(info.rule.words);
  if (!info.kind_words.empty()) lists.insert(info.kind_words);
  for (const base::FieldInfo& member : info.members) collect_lists(member, lists);
}

TEST(Catalog, EveryListThatAFieldNamesHasWords) {
  std::set<std::string> lists;
  collect_lists(base::describe(RunSpec()), lists);
  EXPECT_GE(lists.size(), 8u);
  for (const std::string& list : lists) EXPECT_FALSE(catalog::words(list).empty()) << list;
  EXPECT_TRUE(catalog::words("nothing").empty());
}

TEST(Catalog, NamesAreUniqueAndHaveATitle) {
  for (const char* list :
       {"models", "precisions", "parallelism", "datasets", "augmentations", "optimizers",
        "schedules", "samplers", "findings", "topologies", "storages"}) {
    const std::vector<std::string> words = catalog::words(list);
    EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size()) << list;
  }
  for (const auto table :
       {catalog::augmentations(), catalog::optimizers(), catalog::schedules(), catalog::samplers(),
        catalog::findings(), catalog::topologies(), catalog::storages()}) {
    for (const WordFacts& word : table) EXPECT_GT(word.title.size(), 10u) << word.name;
  }
  for (const DatasetFacts& format : catalog::datasets()) EXPECT_GT(format.title.size(), 10u);
  for (const StrategyFacts& strategy : catalog::parallelisms()) {
    EXPECT_GT(strategy.title.size(), 10u) << strategy.name;
  }
}

TEST(Catalog, ModelsAreCompleteAndTheirRecipesAreValid) {
  for (const ModelFacts& model : catalog::models()) {
    EXPECT_EQ(catalog::find_model(model.name), &model);
    EXPECT_GT(model.parameters, 1000000) << model.name;
    EXPECT_GT(model.forward_flops_per_sample, 1e8);
    EXPECT_GT(model.activation_bytes_per_sample, 1e7);
    EXPECT_EQ(model.image_size % 32, 0);
    EXPECT_NE(model.image_size > 0, model.sequence_length > 0) << model.name;
    EXPECT_EQ(model.classes > 0, model.image_size > 0) << model.name;
    EXPECT_FALSE(model.datasets.empty());
    const WordFacts* schedule =
        catalog::find_word(catalog::schedules(), model.schedule.kind.value());
    ASSERT_NE(schedule, nullptr);
    const base::Value fields = base::to_value(model.schedule);
    for (const base::Value::Member& field : fields.as_object()) {
      if (field.name == "kind") continue;
      EXPECT_THAT(schedule->options, testing::Contains(field.name)) << model.name;
    }
    const WordFacts* optimizer =
        catalog::find_word(catalog::optimizers(), model.optimizer.kind.value());
    ASSERT_NE(optimizer, nullptr);
    const base::Value options = base::to_value(model.optimizer);
    for (const base::Value::Member& field : options.as_object()) {
      if (field.name == "kind") continue;
      EXPECT_THAT(optimizer->options, testing::Contains(field.name)) << model.name;
    }
  }
  EXPECT_EQ(catalog::find_model("resnet"), nullptr);
}

// Sizes as the reference counts them.
TEST(Catalog, ModelsHaveTheReferencesSizes) {
  int compared = 0;
  for (const ModelFacts& model : catalog::models()) {
    const std::string path = "tests/data/reference/" + model.name + ".json";
    if (!std::ifstream(path)) continue;  // yolov5x has none
    ++compared;
    const base::Value reference = base::parse_json(base::read_file(path), path);
    EXPECT_EQ(model.parameters, reference.find("parameters")->as_integer());
    EXPECT_EQ(model.forward_flops_per_sample,
              reference.find_path("flops.forward_flops")->as_number());
  }
  EXPECT_GE(compared, 6);
}

TEST(Catalog, ATransformersFactsFollowItsOptions) {
  const ModelFacts& base = *catalog::find_model("bert_base");
  RunSpec spec;
  EXPECT_EQ(catalog::sized(base, spec).parameters, base.parameters);
  const ModelFacts& large = *catalog::find_model("bert_large");
  spec.model_options.layers = 24;
  spec.model_options.hidden_size = 1024;
  spec.model_options.heads = 16;
  EXPECT_EQ(catalog::sized(base, spec).parameters, large.parameters);
  EXPECT_EQ(catalog::sized(base, spec).forward_flops_per_sample, large.forward_flops_per_sample);
  spec.sequence_length = 192;  // half the tokens, and a quarter of the scores
  const ModelFacts shorter = catalog::sized(base, spec);
  EXPECT_EQ(shorter.parameters, large.parameters);
  EXPECT_EQ(shorter.activation_bytes_per_sample, large.activation_bytes_per_sample / 2);
  EXPECT_LT(shorter.forward_flops_per_sample, large.forward_flops_per_sample / 2);
  EXPECT_GT(shorter.forward_flops_per_sample, large.forward_flops_per_sample / 2.2);
  const ModelFacts& image = *catalog::find_model("resnet50");
  EXPECT_EQ(catalog::sized(image, spec).parameters, image.parameters);
}

TEST(Catalog, OnlyThesePrecisionsWorkOnTheCpu) {
  std::vector<std::string> names;
  for (const PrecisionFacts& precision : catalog::precisions()) {
    if (precision.on_cpu) names.push_back(precision.name);
  }
  EXPECT_THAT(names, ElementsAre("fp32", "bf16"));
  EXPECT_TRUE(catalog::find_precision("fp16")->loss_scaling);
  EXPECT_EQ(catalog::find_precision("fp8"), nullptr);
}

}  // namespace
}  // namespace falcon
