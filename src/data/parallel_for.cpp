#include "data/parallel_for.h"

#include <sched.h>

namespace falcon::data {

int thread_count(int wanted, std::int64_t work_items) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const int cores = known ? CPU_COUNT(&allowed) : 1;
  const std::int64_t threads = std::min<std::int64_t>(wanted > 0 ? wanted : cores, work_items);
  return static_cast<int>(std::max<std::int64_t>(1, threads));
}

}  // namespace falcon::data
