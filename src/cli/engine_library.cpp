#include "cli/engine_library.h"

#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>

#include "falconbench/errors.h"

namespace falcon::cli {
namespace {

namespace fs = std::filesystem;

void* open_library(const fs::path& path, const std::string& advice) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw Error(ExitCode::kHost, std::string("cannot load ") + path.string() + ": " +
                                     (reason == nullptr ? "unknown reason" : reason) + "; " +
                                     advice);
  }
  return handle;
}

// Libraries that are loaded already satisfy the engine's needs by their names, whatever its own
// search path says.
void open_other_libtorch() {
  const char* folder = std::getenv("FALCONBENCH_LIBTORCH");
  if (folder == nullptr || *folder == '\0') return;
  for (const char* name : {"libtorch_cuda.so", "libtorch_cpu.so"}) {
    open_library(fs::path(folder) / "torch" / "lib" / name,
                 "FALCONBENCH_LIBTORCH names a folder with torch/ and nvidia/");
  }
}

}  // namespace

std::string program_path() {
  return fs::read_symlink("/proc/self/exe").string();
}

EngineLibrary::EngineLibrary() {
  open_other_libtorch();
  const fs::path path = fs::path(program_path()).parent_path().parent_path() / "lib" /
                        "falconbench" / "libfalconbench_engine.so";
  handle_ = open_library(
      path, "build it, or set FALCONBENCH_LIBTORCH to a folder with torch/ and nvidia/");
}

void* EngineLibrary::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr)
    throw Error(ExitCode::kHost, std::string("the engine library has no ") + name);
  return found;
}

int EngineLibrary::worker(launch::WorkerChannel& channel, int listen_fd) const {
  using Entry = int (*)(void*, int);
  return reinterpret_cast<Entry>(symbol("falconbench_engine_worker"))(&channel, listen_fd);
}

namespace {

using Sink = void (*)(void*, const char*);

void keep(void* out, const char* text) {
  *static_cast<std::string*>(out) = text;
}

}  // namespace

std::string EngineLibrary::probe() const {
  using Entry = int (*)(Sink, void*);
  std::string json;
  reinterpret_cast<Entry>(symbol("falconbench_engine_probe"))(keep, &json);
  return json;
}

std::string EngineLibrary::agent_store(const std::string& host, int port, const std::string& key,
                                       const char* value, double timeout_s) const {
  using Entry = int (*)(const char*, int, const char*, const char*, double, Sink, void*);
  std::string json;
  reinterpret_cast<Entry>(symbol("falconbench_engine_agent_store"))(host.c_str(), port, key.c_str(),
                                                                    value, timeout_s, keep, &json);
  return json;
}

}  // namespace falcon::cli
