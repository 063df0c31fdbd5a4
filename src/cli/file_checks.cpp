#include "cli/file_checks.h"

#include <string>

#include "base/files.h"
#include "falconbench/errors.h"

namespace falcon::cli {
namespace {

void prove_writable(const char* key, const std::string& path) {
  try {
    base::make_parent_folders(path);
    const base::AtomicFile probe(path);  // goes again
  } catch (const Error& error) {
    throw Error(ExitCode::kHost, std::string(key) + ": " + error.what());
  }
}

}  // namespace

void check_readable(const FilePlan& files) {
  if (!files.init.empty()) const weights::SafetensorsFile file(files.init);
}

void check_writable(const FilePlan& files) {
  if (!files.checkpoint.empty()) prove_writable("checkpoint.path", files.checkpoint);
  if (!files.save_weights.empty()) prove_writable("save_weights", files.save_weights);
  if (!files.telemetry_raw.empty()) prove_writable("telemetry.raw", files.telemetry_raw);
}

weights::CheckpointFacts resume_facts(const FilePlan& files) {
  return weights::checkpoint_facts(weights::SafetensorsFile(files.resume));
}

}  // namespace falcon::cli
