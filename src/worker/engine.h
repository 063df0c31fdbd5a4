// The two functions that libfalconbench_engine.so exports. Nothing is thrown across them.
#pragma once

extern "C" {

/// One rank of a run, from its plan (read from control_fd, which it takes over) to its records.
/// listen_fd: the bound rendezvous socket on rank 0, else -1. parent_pid: the launcher, for the log
/// of a failure before the channel is up. Returns an exit code (falcon::ExitCode).
__attribute__((visibility("default"))) int falconbench_engine_worker(int control_fd, int listen_fd,
                                                                     int parent_pid);

using FalconbenchSink = void (*)(void* out, const char* json);
/// Calls the sink once with the facts of devices and libraries (falcon::ProbeFacts as JSON on one
/// line). Always returns 0: what could not be asked is said in the facts.
__attribute__((visibility("default"))) int falconbench_engine_probe(FalconbenchSink sink,
                                                                    void* out);
}
