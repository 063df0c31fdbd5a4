// YOLOv5's loss on fixed predictions: the matches of every level in their order, the parts, and the
// gradient of each map.
#include "models/yolo_loss.h"

#include <iostream>

#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "parity/measured.h"
#include "parity/tolerances.h"
#include "support/reference_set.h"

namespace falcon::test {
namespace {

/// float64 as listed, and float32 from channels_last maps.
class ParityYoloLoss : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
};

at::Tensor prediction(const Json& listed, const Precision& precision) {
  const std::vector<std::int64_t> shape = listed.at("shape");
  at::Tensor map =
      filled(listed.at("key"), shape, listed.at("offset"), listed.at("scale")).to(precision.type);
  if (precision.channels_last) {
    map = map.permute({0, 2, 3, 1, 4}).contiguous().permute({0, 3, 1, 2, 4});
  }
  return map.detach().set_requires_grad(true);
}

at::Tensor anchors_of(const Json& file, const Json& one, at::ScalarType type) {
  std::vector<double> cells;
  for (std::size_t level = 0; level < file.at("anchors_px").size(); ++level) {
    const std::int64_t rows = one.at("predictions").at(level).at("shape").at(2);
    const double stride = one.at("hw").at(0).get<double>() / static_cast<double>(rows);
    for (const Json& side : file["anchors_px"][level]) {
      cells.push_back(side.get<double>() / stride);
    }
  }
  return at::tensor(cells, type).view({-1, 3, 2});
}

void compare_matches(Comparison& result, const Json& rows, const models::YoloMatches& matches,
                     double allowed) {
  const at::Tensor kept = matches.valid.nonzero().squeeze(1);
  result.equal("matches", std::to_string(rows.size()), std::to_string(kept.numel()));
  const std::vector<at::Tensor> columns{matches.image, matches.anchor, matches.row, matches.column,
                                        matches.label};
  for (std::int64_t i = 0; i < std::min<std::int64_t>(kept.numel(), std::ssize(rows)); ++i) {
    const Json& row = rows[static_cast<std::size_t>(i)];
    const std::int64_t place = kept[i].item<std::int64_t>();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      result.equal("match " + std::to_string(i), row[c].dump(),
                   std::to_string(columns[c][place].item<std::int64_t>()));
    }
    for (std::int64_t c = 0; c < 4; ++c) {
      const double expected = row[5 + static_cast<std::size_t>(c)];
      result.near("box", expected, matches.box[place][c].item<double>(), allowed);
    }
  }
}

void compare_case(Comparison& result, const Json& file, const Json& one,
                  const Precision& precision) {
  std::vector<at::Tensor> maps;
  for (const Json& listed : one.at("predictions")) {
    maps.push_back(prediction(listed, precision));
  }
  const at::Tensor anchors = anchors_of(file, one, precision.type);
  const at::Tensor targets = padded_targets(one.at("targets"), one.at("batch"));
  models::YoloLossOptions options = yolo_loss_options(one.at("hyp"));
  options.balance = file.at("balance");
  const models::YoloLoss loss = models::yolo_loss(maps, targets, anchors, options);
  loss.total.backward();
  const bool is_float64 = precision.type == at::kDouble;
  const Json& matches = one.at("matches");
  for (std::size_t level = 0; level < maps.size(); ++level) {
    result.row("matches of level " + std::to_string(level));
    // listed with nine digits
    compare_matches(
        result, matches.at(level),
        models::match_targets(targets, anchors[static_cast<std::int64_t>(level)],
                              maps[level].size(2), maps[level].size(3), options.anchor_threshold),
        is_float64 ? 1e-7 : 1e-5);
  }
  const double r = is_float64 ? 1e-9 : 1e-5;
  const std::vector<at::Tensor> parts{loss.box, loss.objectness, loss.classes};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result.row(file.at("parts_names").at(i));
    result.relative("part", one.at("parts").at(i), parts[i].item<double>(), r);
  }
  result.row("total");
  result.relative("loss", one.at("loss"), loss.total.item<double>(), r);
  const Table table(one, "grads");
  for (std::size_t level = 0; level < maps.size(); ++level) {
    const Json& row = table.rows().at(level);
    const std::string name = table.at(row, "map");
    result.row("gradient of " + name);
    const Summary listed{
        .l2 = table.at(row, "l2"), .sum = table.at(row, "sum"), .dot = table.at(row, "dot")};
    const std::string probe = one.at("predictions").at(level).at("key");
    const double tolerance =
        is_float64 ? 1e-9 : std::max(10 * table.at(row, "rel32").get<double>(), 1e-4);
    result.summary(listed, summarize(to_doubles(maps[level].grad()), "grad/" + name), tolerance);
  }
}

TEST_P(ParityYoloLoss, OfEveryCase) {
  const auto file = read_reference("yolo_loss.json");
  if (!file) {
    GTEST_SKIP() << "missing yolo_loss.json in " << reference_dir();
  }
  for (const Json& one : file->json.at("cases")) {
    Comparison comparison;
    compare_case(comparison, file->json, one, GetParam());
    const std::string name = "yolo_loss/" + one.at("case").get<std::string>();
    std::cout << parity_line("yolov5", GetParam().name, name, comparison) << std::endl;
    EXPECT_TRUE(comparison.passed()) << name << ": " << comparison.worst_text();
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ParityYoloLoss, testing::Values(kFloat64, kFloat32),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace falcon::test
