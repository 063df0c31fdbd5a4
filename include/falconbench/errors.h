// How anything in falconbench says no: one exception type that carries the exit code, and the list
// of faults of a file. Thrown anywhere, caught in cli/guarded.cpp only (and at the end of a worker,
// which sends it to the launcher).
#pragma once
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace falcon {

/// The exit codes of the program; README.md lists them for users.
enum class ExitCode {
  kOk = 0,
  kInternal = 1,       // our own fault
  kUsage = 2,          // command line or spec
  kHost = 3,           // this host lacks what was asked for
  kWorker = 4,         // a worker failed
  kHang = 5,           // a worker hung, or the deadline passed
  kInvalid = 6,        // measurement invalid (with strict: true)
  kRegression = 7,     // compare --gate found a slower run
  kUnwritable = 8,     // the report could not be written
  kInterrupted = 130,  // SIGINT
  kTerminated = 143,   // SIGTERM
};

/// One thing wrong in one place of the user's input. line and column are 1-based, 0 where there is
/// none.
struct Fault {
  std::string source;  // file name as the user gave it, or "--set"
  int line = 0;
  int column = 0;
  std::string key;      // dotted path, e.g. batch_size.per_gpu
  std::string message;  // what was wrong, what is accepted, the nearest valid word
};

/// `source:line:column: key: message`, control characters escaped, long values shortened.
std::string to_text(const Fault& fault);

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// All faults of one input at once; exit code 2. what() holds one line a fault.
class InputError : public Error {
 public:
  explicit InputError(std::vector<Fault> faults);
  const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

}  // namespace falcon
