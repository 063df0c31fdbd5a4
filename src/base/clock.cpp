#include "falconbench/clock.h"

#include <cstdio>
#include <ctime>

namespace falcon {

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double steady_now_s() {
  return seconds_of(CLOCK_MONOTONIC);
}

double thread_cpu_s() {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double process_cpu_s() {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double wall_now_s() {
  return seconds_of(CLOCK_REALTIME);
}

std::string wall_now_text() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", utc.tm_year + 1900,
                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                now.tv_nsec / 1000000);
  return text;
}

}  // namespace falcon
