#include "weights/match.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "falconbench/errors.h"

namespace falcon::weights {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A file of zeros with these tensors, gone at the end.
class Written {
 public:
  explicit Written(const std::vector<TensorInfo>& tensors) {
    SafetensorsWriter writer(path_, tensors, {});
    for (const TensorInfo& tensor : writer.tensors()) {
      std::size_t bytes = bytes_of(tensor.type);
      for (const std::int64_t size : tensor.shape) bytes *= static_cast<std::size_t>(size);
      writer.write(std::vector<std::byte>(bytes));
    }
    writer.commit();
    file_ = std::make_unique<SafetensorsFile>(path_);
  }
  ~Written() { std::filesystem::remove(path_); }
  const SafetensorsFile& file() const { return *file_; }

 private:
  std::string path_ =
      testing::TempDir() + "falcon_match_" + std::to_string(::getpid()) + ".safetensors";
  std::unique_ptr<SafetensorsFile> file_;
};

std::string source_of(const Written& written, const Match& match, std::size_t wanted) {
  const std::optional<std::size_t>& source = match.sources[wanted];
  return source ? written.file().tensors()[*source].name : "none";
}

std::string refusal(const Written& written, const std::vector<TensorInfo>& wanted) {
  try {
    match(written.file(), wanted);
    return "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(written.file().path()));
    return error.what();
  }
}

TEST(WeightMatch, NamesOfTheModelItself) {
  const Written written({{"b", DType::kF16, {2}}, {"a", DType::kF32, {3}}, {"x", DType::kI64, {}}});
  const Match found = match(
      written.file(), {{"a", DType::kF32, {3}}, {"b", DType::kF32, {2}}, {"c", DType::kF32, {1}}});
  EXPECT_EQ(source_of(written, found, 0), "a");
  EXPECT_EQ(source_of(written, found, 1), "b");
  EXPECT_EQ(source_of(written, found, 2), "none");
  EXPECT_THAT(found.missing, ElementsAre("c"));
  EXPECT_THAT(found.unused, ElementsAre("x"));
}

TEST(WeightMatch, NamesThatOthersGive) {
  const std::vector<TensorInfo> wanted = {{"bert.embeddings.LayerNorm.weight", DType::kF32, {2}},
                                          {"bert.embeddings.LayerNorm.bias", DType::kF32, {2}},
                                          {"bert.encoder.layer.0.w", DType::kF32, {1}},
                                          {"qa_outputs.weight", DType::kF32, {2, 4}}};
  const Written old_one({{"module.bert.embeddings.LayerNorm.gamma", DType::kF32, {2}},
                         {"module.bert.embeddings.LayerNorm.beta", DType::kF32, {2}},
                         {"module.bert.encoder.layer.0.w", DType::kF32, {1}},
                         {"module.cls.predictions.bias", DType::kF32, {9}}});
  const Match found = match(old_one.file(), wanted);
  EXPECT_EQ(source_of(old_one, found, 0), "module.bert.embeddings.LayerNorm.gamma");
  EXPECT_EQ(source_of(old_one, found, 1), "module.bert.embeddings.LayerNorm.beta");
  EXPECT_EQ(source_of(old_one, found, 2), "module.bert.encoder.layer.0.w");
  EXPECT_THAT(found.missing, ElementsAre("qa_outputs.weight"));
  EXPECT_THAT(found.unused, ElementsAre("module.cls.predictions.bias"));

  const Written headless({{"embeddings.LayerNorm.weight", DType::kF32, {2}},
                          {"embeddings.LayerNorm.beta", DType::kF32, {2}},
                          {"embeddings.position_ids", DType::kI64, {1, 512}},
                          {"encoder.layer.0.w", DType::kBF16, {1}},
                          {"pooler.dense.bias", DType::kF32, {2}}});
  const Match other = match(headless.file(), wanted);
  EXPECT_EQ(source_of(headless, other, 0), "embeddings.LayerNorm.weight");
  EXPECT_EQ(source_of(headless, other, 1), "embeddings.LayerNorm.beta");
  EXPECT_EQ(source_of(headless, other, 2), "encoder.layer.0.w");
  EXPECT_THAT(other.unused, ElementsAre("embeddings.position_ids", "pooler.dense.bias"));
}

TEST(WeightMatch, EveryWrongShapeIsToldWithBoth) {
  const Written written({{"a", DType::kF32, {10, 4}},
                         {"b", DType::kF32, {10}},
                         {"c", DType::kF32, {1}},
                         {"d", DType::kF32, {}}});
  EXPECT_THAT(refusal(written, {{"a", DType::kF32, {1000, 4}},
                                {"b", DType::kF32, {1000}},
                                {"c", DType::kF32, {1}},
                                {"d", DType::kI64, {}}}),
              AllOf(HasSubstr("a: has shape [10, 4], the model's is [1000, 4]"),
                    HasSubstr("b: has shape [10], the model's is [1000]"),
                    HasSubstr("d: has type F32, the model's is I64")));
}

TEST(WeightMatch, OneTensorUnderTwoNames) {
  const Written written({{"module.a", DType::kF32, {1}}, {"a", DType::kF32, {1}}});
  EXPECT_THAT(refusal(written, {{"a", DType::kF32, {1}}}),
              AllOf(HasSubstr("means a of the model"), HasSubstr("module.a")));
}

TEST(WeightMatch, AFileOfAnotherModel) {
  const Written written({{"conv1.weight", DType::kF32, {1}}});
  EXPECT_THAT(refusal(written, {{"features.0.0.weight", DType::kF32, {1}}}),
              AllOf(HasSubstr("no tensor of the model"), HasSubstr("conv1.weight"),
                    HasSubstr("features.0.0.weight")));
  const Written empty({});
  EXPECT_THAT(refusal(empty, {{"a", DType::kF32, {1}}}), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace falcon::weights
