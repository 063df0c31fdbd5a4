#include "parallel/unit_layout.h"

#include <set>

#include <gtest/gtest.h>

namespace falcon::parallel {
namespace {

std::unique_ptr<Model> narrow_bert() {
  return make_model("bert_base", {.dropout = 0, .layers = 3, .hidden_size = 16, .heads = 2});
}

TEST(UnitLayout, BlocksAreToldByPrefix) {
  const std::vector<std::string> blocks{"layer.1.", "layer.10.", "head."};
  EXPECT_EQ(block_of("stem.weight", blocks), 0U);
  EXPECT_EQ(block_of("layer.1.weight", blocks), 1U);
  EXPECT_EQ(block_of("layer.10.weight", blocks), 2U);
  EXPECT_EQ(block_of("head.bias", blocks), 3U);
}

TEST(UnitLayout, EveryParameterHasOnePlaceAndTheRanksHaveAll) {
  for (const char* name : {"mobilenet_v2", "resnet50", "yolov5n", "bert_base"}) {
    const std::unique_ptr<Model> model = make_model(name, {.classes = 10, .layers = 2});
    const std::vector<NamedTensor> parameters = model->parameters();
    for (const bool narrow : {false, true}) {
      for (const int world : {2, 3, 8}) {
        std::set<std::size_t> seen;
        std::size_t next_block = 0;
        for (const UnitLayout& unit :
             lay_out(*model, {world, 1 << 20, narrow ? std::optional(at::kHalf) : std::nullopt})) {
          EXPECT_EQ(unit.size % (world * kAlignment), 0);
          EXPECT_TRUE(unit.is_common || unit.first_block >= next_block);
          next_block = unit.last_block + 1;
          std::int64_t end = 0;
          for (const Place& place : unit.places) {
            EXPECT_TRUE(seen.insert(place.parameter).second);
            EXPECT_EQ(place.begin % kAlignment, 0);
            EXPECT_GE(place.begin, end);
            end = place.begin + place.size;
            EXPECT_EQ(place.size, parameters[place.parameter].tensor.numel());
            std::int64_t shared = 0;
            for (int rank = 0; rank < world; ++rank) {
              shared += overlap(place, shard_of(unit, rank, world)).size();
            }
            EXPECT_EQ(shared, place.size);
          }
          EXPECT_LE(end, unit.size);
        }
        EXPECT_EQ(seen.size(), parameters.size()) << name;
      }
    }
  }
}

TEST(UnitLayout, SmallUnitsAreSingleBlocks) {
  const std::vector<UnitLayout> units = lay_out(*narrow_bert(), {2, 1, {}});
  ASSERT_EQ(units.size(), 5U);  // embeddings, 3 layers, outputs
  for (std::size_t i = 0; i < units.size(); ++i) {
    EXPECT_EQ(units[i].first_block, i);
    EXPECT_EQ(units[i].last_block, i);
  }
  EXPECT_EQ(lay_out(*narrow_bert(), {2, 1 << 30, {}}).size(), 1U);
}

/// Tables of embeddings stay wide, vectors have a unit of their own.
TEST(UnitLayout, ProductWeightsAreNarrow) {
  const std::unique_ptr<Model> model = narrow_bert();
  const std::vector<UnitLayout> units = lay_out(*model, {2, 1, at::kHalf});
  ASSERT_EQ(units.size(), 6U);
  EXPECT_EQ(units[0].type, at::kFloat);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(units[i].type, at::kHalf);
  EXPECT_TRUE(units[5].is_common);
  EXPECT_EQ(units[5].type, at::kFloat);
  EXPECT_EQ(units[5].first_block, 0U);
  EXPECT_EQ(units[5].last_block, 4U);
  for (const Place& place : units[5].places) {
    EXPECT_EQ(model->parameters()[place.parameter].tensor.dim(), 1);
  }
}

}  // namespace
}  // namespace falcon::parallel
