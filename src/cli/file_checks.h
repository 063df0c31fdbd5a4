// The files of a run, looked at before anything is started.
#pragma once
#include "falconbench/plan.h"
#include "weights/checkpoint.h"

namespace falcon::cli {

/// Reads the headers of the files to read: throws Error(kUsage) for a broken one. Whether it suits
/// the model, the worker sees.
void check_readable(const FilePlan& files);

/// Proves that the files to write can be written, and makes their folders. Throws Error(kHost).
void check_writable(const FilePlan& files);

/// Of files.resume. Throws Error(kUsage) when it is no checkpoint.
weights::CheckpointFacts resume_facts(const FilePlan& files);

}  // namespace falcon::cli
