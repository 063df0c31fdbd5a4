// The functions that libfalconbench_engine.so exports. Nothing is thrown across them.
#pragma once

extern "C" {

/// One rank of a run, from its plan to its records, or what a plan with `links` asks for. channel:
/// a falcon::launch::WorkerChannel of the program, which is built together with this library; it
/// stays the caller's. listen_fd: the bound rendezvous socket on rank 0, else -1. Returns an exit
/// code (falcon::ExitCode).
__attribute__((visibility("default"))) int falconbench_engine_worker(void* channel, int listen_fd);

using FalconbenchSink = void (*)(void* out, const char* json);
/// Calls the sink once with the facts of devices and libraries (falcon::ProbeFacts as JSON on one
/// line). Always returns 0: what could not be asked is said in the facts.
__attribute__((visibility("default"))) int falconbench_engine_probe(FalconbenchSink sink,
                                                                    void* out);

/// Sets a key of the store that torchrun's agent serves (value not null), or waits for it at most
/// timeout_s. Calls the sink once with {"value": ...} or {"error": ...}. Always returns 0.
__attribute__((visibility("default"))) int falconbench_engine_agent_store(
    const char* host, int port, const char* key, const char* value, double timeout_s,
    FalconbenchSink sink, void* out);
}
