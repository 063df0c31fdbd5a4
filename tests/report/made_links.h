// A measurement of links that never took place, for tests.
#pragma once
#include <functional>
#include <string>

#include "report/links/input.h"

namespace falcon::report {

/// Two GPUs with NVLink (NV18), Gen5 x16 each: copies of 256 MiB at 380 GB/s directly, 36 GB/s
/// staged, 55 GB/s with the host, latencies of 1.3 and 12 us, all-reduce at 328 and 28.8 GB/s.
struct MadeLinks {
  MadeLinks();
  LinksInput input;

  /// Makes the results anew: seconds that one copy of a task takes.
  void set_times(const std::function<double(const CopyTask& task, std::int64_t bytes)>& seconds_of);
  LinkResult& result_of(const std::string& method, int source, int target, bool peer_to_peer);
};

/// What the times above are.
double usual_time_s(const CopyTask& task, std::int64_t bytes);

}  // namespace falcon::report
