#include "worker/engine.h"

#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include <falconbench/errors.h>
#include <falconbench/probe.h>

#include "base/codec.h"
#include "base/json.h"
#include "base/text.h"
#include "comm/agent_store.h"
#include "comm/library_versions.h"
#include "launch/worker_channel.h"
#include "worker/device.h"
#include "worker/link_session.h"
#include "worker/session.h"

namespace {

using falcon::ExitCode;

/// Read by CUDA and cuBLAS when they are first used, which is later than this.
void set_environment() {
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  // with deterministic algorithms cuBLAS must not share its workspace between streams
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
}

}  // namespace

int falconbench_engine_worker(void* channel, int listen_fd) {
  set_environment();
  try {
    auto& told = *static_cast<falcon::launch::WorkerChannel*>(channel);
    const auto run = told.plan().links.has_value() ? falcon::worker::run_link_session
                                                   : falcon::worker::run_session;
    return static_cast<int>(run(told, listen_fd));
  } catch (const std::exception&) {
    // the channel is gone and nobody left to tell: the launcher sees the exit code
    return static_cast<int>(ExitCode::kWorker);
  }
}

int falconbench_engine_probe(FalconbenchSink sink, void* out) {
  set_environment();
  falcon::ProbeFacts facts;
  try {
    facts.libraries = falcon::comm::library_versions();
    falcon::worker::list_devices(facts);
  } catch (const std::exception& error) {
    facts.error = error.what();
  }
  sink(out, falcon::base::to_json(falcon::base::to_value(facts)).c_str());
  return 0;
}

int falconbench_engine_agent_store(const char* host, int port, const char* key, const char* value,
                                   double timeout_s, FalconbenchSink sink, void* out) {
  falcon::base::Value answer = falcon::base::Value::object();
  try {
    const std::optional<std::string> given =
        value == nullptr ? std::nullopt : std::optional<std::string>(value);
    answer.set("value", falcon::comm::agent_value(host, port, key, given, timeout_s));
  } catch (const std::exception& error) {
    answer.set("error", falcon::base::printable(error.what(), 1000));
  }
  sink(out, falcon::base::to_json(answer).c_str());
  return 0;
}
