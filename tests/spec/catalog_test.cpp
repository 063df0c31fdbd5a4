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
  for (const auto table : {catalog::parallelisms(), catalog::augmentations(), catalog::optimizers(),
                           catalog::schedules(), catalog::samplers(), catalog::findings(),
                           catalog::topologies(), catalog::storages()}) {
    for (const WordFacts& word : table) EXPECT_GT(word.title.size(), 10u) << word.name;
  }
  for (const DatasetFacts& format : catalog::datasets()) EXPECT_GT(format.title.size(), 10u);
}

TEST(Catalog, ModelsAreCompleteAndTheirRecipesAreValid) {
  for (const ModelFacts& model : catalog::models()) {
    EXPECT_EQ(catalog::find_model(model.name), &model);
    EXPECT_GT(model.parameters, 1000000) << model.name;
    EXPECT_GT(model.forward_flops_per_sample, 1e8);
    EXPECT_GT(model.activation_bytes_per_sample, 1e7);
    EXPECT_EQ(model.image_size % 32, 0);
    EXPECT_FALSE(model.datasets.empty());
    const WordFacts* schedule =
        catalog::find_word(catalog::schedules(), model.schedule.kind.value());
    ASSERT_NE(schedule, nullptr);
    const base::Value fields = base::to_value(model.schedule);
    for (const base::Value::Member& field : fields.as_object()) {
      if (field.name == "kind") continue;
      EXPECT_THAT(schedule->options, testing::Contains(field.name)) << model.name;
    }
    EXPECT_NE(catalog::find_word(catalog::optimizers(), model.optimizer.kind.value()), nullptr);
  }
  EXPECT_EQ(catalog::find_model("resnet"), nullptr);
}

// Sizes as the reference counts them.
TEST(Catalog, ModelsHaveTheReferencesSizes) {
  for (const ModelFacts& model : catalog::models()) {
    const std::string path = "tests/data/reference/" + model.name + ".json";
    if (!std::ifstream(path)) GTEST_SKIP() << path << " is not there";
    const base::Value reference = base::parse_json(base::read_file(path), path);
    EXPECT_EQ(model.parameters, reference.find("parameters")->as_integer());
    EXPECT_EQ(model.forward_flops_per_sample,
              reference.find_path("flops.forward_flops")->as_number());
  }
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
