// Time. Durations and stamps that are compared come from the steady clock (CLOCK_MONOTONIC, the
// same for all processes of a host); the wall clock only dates things for people. Nothing else in
// the project reads a clock.
#pragma once
#include <cstdint>
#include <string>

namespace falcon {

/// Seconds of CLOCK_MONOTONIC.
double steady_now_s();
/// CPU seconds that the calling thread has used: what a part of the tool costs itself.
double thread_cpu_s();
/// CPU seconds of all threads of the process, ended ones too.
double process_cpu_s();
/// Seconds since 1970, UTC: to place on the steady clock what others date by the wall clock.
double wall_now_s();
/// Wall clock as RFC 3339 UTC with milliseconds, e.g. 2026-01-31T12:00:00.000Z.
std::string wall_now_text();

}  // namespace falcon
