#include "worker/reporting.h"

#include <new>
#include <string>

#include <c10/util/Exception.h>

namespace falcon::worker {
namespace {

struct Diagnosis {
  const char* kind;
  ExitCode code;
};

Diagnosis diagnosis_of(ExitCode code) {
  if (code == ExitCode::kHost) return {"host", code};
  if (code == ExitCode::kUsage) return {"usage", code};
  return {"exception", ExitCode::kWorker};
}

ExitCode tell(launch::WorkerChannel& channel, const Diagnosis& diagnosis,
              const std::string& message) {
  channel.send_failure(diagnosis.kind, message, diagnosis.code);
  return diagnosis.code;
}

}  // namespace

ExitCode report_failures(launch::WorkerChannel& channel, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return tell(channel, diagnosis_of(error.code()), error.what());
  } catch (const c10::OutOfMemoryError& error) {
    return tell(channel, {"out_of_memory", ExitCode::kWorker}, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    return tell(channel, {"exception", ExitCode::kWorker}, error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return tell(channel, {"out_of_memory", ExitCode::kWorker}, "out of host memory");
  } catch (const std::exception& error) {
    return tell(channel, {"exception", ExitCode::kWorker}, error.what());
  }
  return ExitCode::kOk;
}

}  // namespace falcon::worker
