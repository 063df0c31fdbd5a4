// The one way to LibTorch: opens libfalconbench_engine.so, which lies beside this program
// (../lib/falconbench), in a worker or probe process.
#pragma once
#include <string>

namespace falcon::launch {
class WorkerChannel;
}

namespace falcon::cli {

class EngineLibrary {
 public:
  /// Throws Error(kHost) with the loader's message when the engine, LibTorch or a library of theirs
  /// is not there. FALCONBENCH_LIBTORCH (a folder that holds torch/ and nvidia/) takes the place of
  /// the LibTorch of the build.
  EngineLibrary();

  /// As falconbench_engine_worker (worker/engine.h).
  int worker(launch::WorkerChannel& channel, int listen_fd) const;
  /// Facts of devices and libraries as JSON (ProbeFacts).
  std::string probe() const;
  /// As falconbench_engine_agent_store, as JSON.
  std::string agent_store(const std::string& host, int port, const std::string& key,
                          const char* value, double timeout_s) const;

 private:
  void* symbol(const char* name) const;
  void* handle_ = nullptr;  // never closed: LibTorch does not survive it
};

/// Absolute path of this program.
std::string program_path();

}  // namespace falcon::cli
