// The exported functions: which there are, and what the probe says on a machine with or without a
// GPU.
#include <cstdio>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <falconbench/probe.h>

#include "base/codec.h"
#include "base/json.h"
#include "worker/engine.h"

namespace falcon {
namespace {

TEST(EngineProbe, NamesTheLibrariesAndTheDevices) {
  std::string json;
  const FalconbenchSink sink = [](void* out, const char* text) {
    *static_cast<std::string*>(out) = text;
  };
  EXPECT_EQ(falconbench_engine_probe(sink, &json), 0);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  const auto facts = base::from_value<ProbeFacts>(base::parse_json(json, "probe"));
  EXPECT_EQ(facts.libraries.size(), 4U);
  EXPECT_EQ(facts.error, "");
  for (const ProbeDevice& device : facts.devices) {
    EXPECT_TRUE(device.uuid.starts_with("GPU-")) << device.uuid;
    EXPECT_EQ(device.uuid.size(), 40U);
    EXPECT_GT(device.memory_bytes, 1 << 30);
  }
}

TEST(EngineLibrary, ExportsItsFunctionsAndNoOther) {
  const std::string command = std::string("nm -D --defined-only ") + FALCON_ENGINE_LIBRARY;
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::set<std::string> functions;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string text(line);
    // weak symbols are templates of the standard library, the same in every program
    if (text.find(" T ") == std::string::npos) continue;
    functions.insert(text.substr(text.rfind(' ') + 1, text.rfind('\n') - text.rfind(' ') - 1));
  }
  ::pclose(pipe);
  EXPECT_EQ(functions,
            (std::set<std::string>{"falconbench_engine_agent_store", "falconbench_engine_probe",
                                   "falconbench_engine_worker"}));
}

}  // namespace
}  // namespace falcon
