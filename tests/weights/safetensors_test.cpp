#include "weights/safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "falconbench/errors.h"

namespace falcon::weights {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Safetensors : public testing::Test {
 protected:
  Safetensors() { fs::create_directories(folder_); }
  ~Safetensors() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// A file with this header and so many bytes behind it.
  std::string made(const std::string& header, std::size_t data_bytes) const {
    return raw(header.size(), header + std::string(data_bytes, '\1'));
  }
  std::string raw(std::uint64_t length, const std::string& rest) const {
    const std::string name = path("raw.safetensors");
    std::ofstream file(name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file << rest;
    return name;
  }
  static std::string refusal(const std::string& file) {
    try {
      SafetensorsFile opened(file);
      return "was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(file));
      return error.what();
    }
  }

  fs::path folder_ =
      fs::path(testing::TempDir()) / ("falcon_weights_" + std::to_string(::getpid()));
};

template <class T>
std::span<const std::byte> bytes_of_values(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

TEST_F(Safetensors, WhatIsWrittenIsRead) {
  const std::vector<float> matrix = {1.5F, -2, 3, 4, 5, -6};
  const std::vector<std::uint16_t> halves = {0x3C00, 0x4000, 0xBC00};
  const std::vector<std::int64_t> count = {1234567890123};
  const std::string file = path("deep/er/a.safetensors");
  SafetensorsWriter writer(file,
                           {{"halves", DType::kF16, {3}},
                            {"matrix", DType::kF32, {2, 3}},
                            {"count", DType::kI64, {}},
                            {"none", DType::kBF16, {0, 7}}},
                           {{"step", "12"}, {"made by", "a \"test\""}});
  EXPECT_FALSE(fs::exists(file)) << "it is there when it is whole";
  for (const TensorInfo& tensor : writer.tensors()) {
    if (tensor.name == "halves") writer.write(bytes_of_values(halves));
    if (tensor.name == "matrix") writer.write(bytes_of_values(matrix));
    if (tensor.name == "count") writer.write(bytes_of_values(count));
    if (tensor.name == "none") writer.write({});
  }
  const std::int64_t bytes_written = writer.commit();
  EXPECT_EQ(bytes_written, static_cast<std::int64_t>(fs::file_size(file)));

  const SafetensorsFile read(file);
  ASSERT_EQ(read.tensors().size(), 4u);
  EXPECT_EQ(read.tensors()[0].name, "count") << "8-byte numbers first, so all are aligned";
  EXPECT_EQ(read.metadata().at("made by"), "a \"test\"");
  for (std::size_t i = 0; i < read.tensors().size(); ++i) {
    const TensorInfo& tensor = read.tensors()[i];
    const std::span<const std::byte> bytes = read.bytes(i);
    const auto holds = [&](std::span<const std::byte> wanted) {
      return std::equal(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
    };
    if (tensor.name == "matrix") {
      EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
      EXPECT_TRUE(holds(bytes_of_values(matrix)));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 8, 0u);
    }
    if (tensor.name == "halves") {
      EXPECT_TRUE(holds(bytes_of_values(halves)));
    }
    if (tensor.name == "count") {
      EXPECT_TRUE(tensor.shape.empty() && holds(bytes_of_values(count)));
    }
    if (tensor.name == "none") {
      EXPECT_TRUE(bytes.empty());
    }
  }
}

TEST_F(Safetensors, AWriterThatIsNotCommittedLeavesTheOldFile) {
  const std::string file = path("a.safetensors");
  std::ofstream(file) << "old";
  {
    SafetensorsWriter writer(file, {{"a", DType::kF32, {2}}}, {});
    EXPECT_THROW(writer.write(bytes_of_values<float>({1})), Error) << "half of it";
    EXPECT_THROW(writer.commit(), Error);
  }
  EXPECT_EQ(fs::file_size(file), 3u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Safetensors, APlaceThatCannotBeWrittenIsNamed) {
  std::ofstream(path("file")) << "x";
  try {
    SafetensorsWriter writer(path("file/a.safetensors"), {}, {});
    FAIL() << "a file is no folder";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnwritable);
    EXPECT_THAT(error.what(), HasSubstr(path("file/a.safetensors")));
  }
}

TEST_F(Safetensors, FilesThatAreNone) {
  EXPECT_THAT(refusal(path("absent")), HasSubstr("no such file"));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("is a directory"));
  std::ofstream(path("empty")) << "";
  EXPECT_THAT(refusal(path("empty")), HasSubstr("0 bytes"));
  std::ofstream(path("short")) << "1234567";
  EXPECT_THAT(refusal(path("short")), HasSubstr("7 bytes"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal(path("pipe")), HasSubstr("no regular file"));
  EXPECT_THAT(refusal(raw(100'000'001, std::string(50, ' '))), HasSubstr("at most 100000000"));
  EXPECT_THAT(refusal(raw(51, "{}" + std::string(48, ' '))), HasSubstr("is cut"));
  EXPECT_THAT(refusal(raw(~std::uint64_t{0}, "{}")), HasSubstr("at most"));
  EXPECT_THAT(refusal(raw(0, "")), HasSubstr("does not start with {"));
  EXPECT_THAT(refusal(made(" {}", 0)), HasSubstr("does not start with {"));
  EXPECT_THAT(refusal(made("[]", 0)), HasSubstr("does not start with {"));
}

TEST_F(Safetensors, BrokenHeaders) {
  const std::string a = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_EQ(refusal(made("{" + a + "}  ", 4)), "was accepted") << "padding with blanks is usual";
  EXPECT_THAT(refusal(made("{" + a, 4)), HasSubstr("1:"));
  EXPECT_THAT(refusal(made("{" + a + "}x", 4)), HasSubstr("1:"));
  EXPECT_THAT(refusal(made("{" + a + "," + a + "}", 4)), AllOf(HasSubstr("a"), HasSubstr("twice")));
  EXPECT_THAT(
      refusal(made(R"({"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4)),
      HasSubstr("shape"));
  EXPECT_THAT(refusal(made(R"({"a\u0000":{"dtype":"F32"}})", 4)), HasSubstr("a\\x00"));
  EXPECT_THAT(refusal(made(std::string("{\"\xFF\":1}"), 4)), HasSubstr("1:"));
  EXPECT_THAT(refusal(made(R"({"__metadata__":[]})", 0)), HasSubstr("__metadata__"));
  EXPECT_THAT(refusal(made(R"({"__metadata__":{"n":1}})", 0)), HasSubstr("\"n\""));
}

TEST_F(Safetensors, BrokenTensorsAreNamed) {
  const auto with = [&](const std::string& tensor, std::size_t bytes) {
    return refusal(made(R"({"layer.w":)" + tensor + "}", bytes));
  };
  const auto names_it = [](const std::string& what) {
    return AllOf(HasSubstr("tensor \"layer.w\""), HasSubstr(what));
  };
  EXPECT_THAT(with("3", 4), names_it("expected a map"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":[1]})", 4), names_it("no data_offsets"));
  EXPECT_THAT(with(R"({"shape":[1],"data_offsets":[0,4]})", 4), names_it("no dtype"));
  EXPECT_THAT(with(R"({"dtype":"F32","data_offsets":[0,4]})", 4), names_it("no shape"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1})", 4),
              names_it("\"x\""));
  EXPECT_THAT(with(R"({"dtype":"F64","shape":[1],"data_offsets":[0,8]})", 8),
              names_it("F64 is not read, accepted: F32, F16, BF16 or I64"));
  EXPECT_THAT(with(R"({"dtype":4,"shape":[1],"data_offsets":[0,4]})", 4), names_it("dtype is"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":1,"data_offsets":[0,4]})", 4), names_it("shape is"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4),
              names_it("shape holds"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})", 4),
              names_it("shape holds"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})", 4),
              names_it("[begin, end]"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", 4),
              names_it("[begin, end]"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 4),
              names_it("the file is cut"));
  EXPECT_THAT(with(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", 8),
              names_it("[3] of F32 takes 12 bytes, but it has 8"));
  EXPECT_THAT(with(R"({"dtype":"F16","shape":[4611686018427387904,4],"data_offsets":[0,0]})", 0),
              names_it("too many"));
  EXPECT_THAT(with(R"({"dtype":"F16","shape":[4611686018427387904,4,0],"data_offsets":[0,0]})", 0),
              "was accepted");
}

TEST_F(Safetensors, TheDataIsCoveredOnce) {
  const auto tensor = [](const std::string& name, int begin, int end) {
    return '"' + name + R"(":{"dtype":"F32","shape":[)" + std::to_string((end - begin) / 4) +
           R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
  };
  const auto all = [&](std::vector<std::string> parts, std::size_t bytes) {
    std::string header;
    for (const std::string& part : parts) header += (header.empty() ? "{" : ",") + part;
    return refusal(made(header + "}", bytes));
  };
  EXPECT_EQ(all({tensor("b", 4, 12), tensor("a", 0, 4)}, 12), "was accepted");
  EXPECT_THAT(all({tensor("a", 0, 8), tensor("b", 4, 12)}, 12),
              AllOf(HasSubstr("\"b\""), HasSubstr("overlaps")));
  EXPECT_THAT(all({tensor("a", 0, 4), tensor("b", 8, 12)}, 12),
              AllOf(HasSubstr("\"b\""), HasSubstr("before it ends at byte 4")));
  EXPECT_THAT(all({tensor("a", 4, 8)}, 8), HasSubstr("\"a\""));
  EXPECT_THAT(all({tensor("a", 0, 4)}, 8), HasSubstr("4 bytes at its end"));
  EXPECT_THAT(all({tensor("a", 0, 4), tensor("b", 0, 4)}, 4), HasSubstr("overlaps"));
  EXPECT_EQ(refusal(made("{}", 0)), "was accepted");
}

}  // namespace
}  // namespace falcon::weights
