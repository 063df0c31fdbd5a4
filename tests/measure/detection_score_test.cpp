#include "measure/detection_score.h"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "measure/suppression.h"

namespace falcon::measure {
namespace {

// tests/data/detection_score.json: made boxes with crowds, equal scores, labels without truth and
// more than 100 detections of a label; expected numbers by pycocotools.
TEST(DetectionScore, IsThatOfPycocotools) {
  std::ifstream file("tests/data/detection_score.json");
  const nlohmann::json json = nlohmann::json::parse(file);
  ASSERT_EQ(json.at("cases").size(), 4U);
  for (const nlohmann::json& one : json.at("cases")) {
    std::vector<TrueBox> truth;
    for (const nlohmann::json& r : one.at("truth")) {
      truth.push_back({r[0], r[1], r[2], r[3], r[4], r[5], r[6] == 1});
    }
    std::vector<ScoredBox> detections;
    for (const nlohmann::json& r : one.at("detections")) {
      detections.push_back({r[0], r[1], r[2], r[3], r[4], r[5], r[6]});
    }
    const auto score = score_detections(truth, detections);
    ASSERT_TRUE(score);
    EXPECT_NEAR(score->map50, one.at("map50").get<double>(), 1e-9);
    EXPECT_NEAR(score->map50_95, one.at("map50_95").get<double>(), 1e-9);
  }
}

TEST(DetectionScore, IsOneForPerfectBoxesAndNothingWithoutTruth) {
  const std::vector<TrueBox> truth = {{1, 0, 10, 10, 20, 20}, {2, 3, 0, 0, 5, 5}};
  const std::vector<ScoredBox> same = {{1, 0, 10, 10, 20, 20, 0.9}, {2, 3, 0, 0, 5, 5, 0.8}};
  EXPECT_NEAR(score_detections(truth, same)->map50_95, 1, 1e-12);
  EXPECT_EQ(score_detections(truth, {})->map50, 0);
  EXPECT_FALSE(score_detections({}, same));
  EXPECT_FALSE(score_detections({{1, 0, 1, 1, 2, 2, true}}, same));
}

// Columns: x, y, width, height, objectness, two classes.
TEST(Suppression, KeepsTheBestOfEachClass) {
  const std::vector<float> predictions = {
      50, 50, 20, 20, 0.9F, 0.8F, 0.1F,  // class 0 at 0.72, class 1 at 0.09
      51, 50, 20, 20, 0.8F, 0.8F, 0.0F,  // the same place: in the way of the first
      90, 50, 20, 20, 0.5F, 0.6F, 0.0F,  // elsewhere
      10, 10, 4,  4,  0.0F, 0.9F, 0.9F,  // no object
  };
  const std::vector<DetectedBox> boxes = suppress(predictions, 2);
  ASSERT_EQ(boxes.size(), 3U);
  EXPECT_FLOAT_EQ(boxes[0].score, 0.72F);
  EXPECT_FLOAT_EQ(boxes[0].left, 40);
  EXPECT_FLOAT_EQ(boxes[1].score, 0.3F);
  EXPECT_EQ(boxes[2].label, 1);
  SuppressionOptions options;
  options.many_labels = false;
  EXPECT_EQ(suppress(predictions, 2, options).size(), 2U);
  options.most_boxes = 1;
  EXPECT_EQ(suppress(predictions, 2, options).size(), 1U);
  options = {};
  options.most_overlap = 0.99F;
  EXPECT_EQ(suppress(predictions, 2, options).size(), 4U);
}

}  // namespace
}  // namespace falcon::measure
