#include "cli/guarded.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "falconbench/errors.h"

namespace falcon::cli {
namespace {

int report_error(const char* what, ExitCode code) {
  std::fprintf(stderr, "falconbench: %s\n", what);
  return static_cast<int>(code);
}

}  // namespace

int guarded_main(int argc, char** argv) noexcept {
  try {
    return static_cast<int>(dispatch({argv, argv + argc}));
  } catch (const InputError& error) {
    const std::size_t count = error.faults().size();
    std::fprintf(stderr, "%s\n", error.what());
    if (count > 1) std::fprintf(stderr, "falconbench: %zu faults\n", count);
    return static_cast<int>(error.code());
  } catch (const Error& error) {
    return report_error(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return report_error("out of host memory", ExitCode::kInternal);
  } catch (const std::exception& error) {
    return report_error(error.what(), ExitCode::kInternal);
  } catch (...) {
    return report_error("unknown exception", ExitCode::kInternal);
  }
}

}  // namespace falcon::cli
