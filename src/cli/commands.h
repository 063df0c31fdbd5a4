// The verbs of the command line. Each takes the words after its own name and returns the exit code;
// errors are thrown (cli/guarded.cpp prints them).
#pragma once
#include <string>
#include <vector>

#include "falconbench/errors.h"

namespace falcon::cli {

using Words = std::vector<std::string>;

/// argv[0] and all that follows.
ExitCode dispatch(const Words& argv);

ExitCode run_command(const std::string& program, const Words& words);
ExitCode compare_command(const Words& words);
ExitCode data_command(const Words& words);
ExitCode doctor_command(const Words& words);
/// program: argv[0].
ExitCode links_command(const std::string& program, const Words& words);
ExitCode report_command(const Words& words);
ExitCode export_command(const Words& words);
ExitCode predict_command(const Words& words);
ExitCode list_command(const Words& words);
ExitCode version_command();
/// One rank, or the probe: started by the launcher, not by people.
ExitCode worker_command(const Words& words);

}  // namespace falcon::cli
