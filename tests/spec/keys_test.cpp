#include "spec/keys.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codec_describe.h"
#include "base/files.h"
#include "base/text.h"
#include "falconbench/run_spec.h"
#include "spec/yaml.h"

namespace falcon::spec {
namespace {

using testing::HasSubstr;

// FALCONBENCH_UPDATE=1 writes the file anew.
TEST(Keys, ReadmeOfTheConfigsIsUpToDate) {
  const std::string path = "configs/README.md";
  if (std::getenv("FALCONBENCH_UPDATE") != nullptr) {
    base::write_file_atomically(path, keys_markdown());
  }
  EXPECT_TRUE(base::read_file(path) == keys_markdown())
      << path << " is out of date: run this test once with FALCONBENCH_UPDATE=1";
}

TEST(Keys, TableSaysTypeRangeAndDefault) {
  const std::string table = keys_table();
  EXPECT_THAT(table, HasSubstr("warmup_steps                     whole number; from 0 to 1000000; "
                               "default 20\n"));
  EXPECT_THAT(table, HasSubstr("word; resnet50, mobilenet_v2, yolov5n, "));
  EXPECT_THAT(table, HasSubstr("batch_size                       map with one key; one of global, "
                               "per_gpu\n"));
  EXPECT_THAT(table, HasSubstr("parallelism.ddp.bucket_mb        number; above 0; default 25\n"));
}

TEST(Keys, EveryKeyIsThereWithASentence) {
  const std::vector<std::string> keys = base::dotted_keys(base::describe(RunSpec()));
  const std::string markdown = keys_markdown();
  EXPECT_GT(keys.size(), 50u);
  for (const std::string& key : keys) {
    const std::size_t at = markdown.find("| `" + key + "` |");
    ASSERT_NE(at, std::string::npos) << key;
    const auto cells = base::split(markdown.substr(at, markdown.find('\n', at) - at), '|');
    ASSERT_EQ(cells.size(), 7u) << key << ": a | in a sentence breaks the table";
    EXPECT_GT(base::trim(cells[5]).size(), 5u) << key;
  }
}

// The commented-out lines of the shipped model specs are keys, too.
TEST(Keys, CommentedLinesOfTheShippedSpecsAreKnownKeys) {
  const std::vector<std::string> keys = base::dotted_keys(base::describe(RunSpec()));
  int count = 0;
  for (const char* model : {"resnet50", "mobilenet_v2", "bert_base", "bert_large"}) {
    const std::string text = base::read_file("configs/models/" + std::string(model) + ".yaml");
    for (const std::string& line : base::split(text, '\n')) {
      if (!line.starts_with("# ") || line.find(": ") == std::string::npos) continue;
      const std::string key = line.substr(2, line.find(':') - 2);
      if (key.find(' ') != std::string::npos || key.find('-') != std::string::npos) continue;
      EXPECT_NE(std::find(keys.begin(), keys.end(), key), keys.end()) << line;
      ++count;
    }
  }
  EXPECT_GT(count, 20);
}

}  // namespace
}  // namespace falcon::spec
