// Where the files of a run lie, on this machine. Reads the file system only to see that a storage
// is mounted.
#pragma once
#include <string>

#include "falconbench/plan.h"
#include "falconbench/run_spec.h"
#include "falconbench/system_file.h"

namespace falcon::plan {

/// The folder that data.path means, absolute; "" for synthetic data. Throws InputError for a path
/// outside the named storage or a storage without a name, Error(kHost) for a storage that this
/// machine's system file does not know or that is not mounted.
/// is_here: false for a plan of another machine, whose mounts cannot be looked at.
std::string data_folder(const RunSpec& resolved, const SystemFile& system, bool is_here = true);

/// The folder of that path on the named storage. Throws what data_folder() throws.
std::string folder_on(const std::string& storage, const std::string& path,
                      const SystemFile& system);

/// The files of the run. Those to read, and save_weights, may be absolute and lie anywhere;
/// checkpoints are written to the named storage. Throws what data_folder() throws.
FilePlan file_plan(const RunSpec& resolved, const SystemFile& system, bool is_here = true);

}  // namespace falcon::plan
