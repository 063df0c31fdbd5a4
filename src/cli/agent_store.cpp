#include "cli/agent_store.h"

#include <cstdio>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"
#include "cli/engine_library.h"
#include "cli/helper_process.h"
#include "falconbench/errors.h"

namespace falcon::cli {
namespace {

constexpr const char* kValueVariable = "FALCONBENCH_AGENT_STORE_VALUE";
constexpr double kLimitSeconds = 300;  // for the head to come
constexpr double kLoadSeconds = 60;    // of LibTorch, from a cold disk

}  // namespace

launch::AgentStore agent_store_of(const launch::Job& job, const Patience& patience) {
  return [&patience, address = job.master_address, port = std::to_string(job.master_port)](
             const std::string& key, const std::optional<std::string>& value) {
    Helper helper;
    helper.what = "the store of torchrun's agent at " + address + " port " + port;
    helper.words = {kAgentStoreFlag, address, port, key};
    if (value) helper.environment = {std::string(kValueVariable) + "=" + *value};
    helper.limit_s = kLimitSeconds + kLoadSeconds;
    const base::Value answer = base::parse_json(answer_of(helper, &patience), "agent store");
    const base::Value* error = answer.find("error");
    if (error != nullptr && error->is_text()) {
      throw Error(ExitCode::kHost, helper.what + ": " + error->as_text());
    }
    const base::Value* found = answer.find("value");
    return found != nullptr && found->is_text() ? found->as_text() : std::string();
  };
}

ExitCode agent_store_command(const Words& words) {
  if (words.size() != 4) {
    throw Error(ExitCode::kUsage, "worker --agent-store takes HOST PORT KEY");
  }
  const char* value = std::getenv(kValueVariable);
  const std::string answer = EngineLibrary().agent_store(words[1], std::atoi(words[2].c_str()),
                                                         words[3], value, kLimitSeconds);
  std::printf("%s\n", answer.c_str());
  return ExitCode::kOk;
}

}  // namespace falcon::cli
