// body(thread, index) for index 0 .. count - 1 on several threads, each taking the next index. The
// first exception is rethrown after all threads have ended; the others then take no new index.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

namespace falcon::data {

/// 0 means one per core this process may use. Never more than there is work.
int thread_count(int wanted, std::int64_t work_items);

template <class Body>
void parallel_for(std::int64_t count, int threads, const Body& body) {
  std::atomic<std::int64_t> next{0};
  const auto take = [&](int thread) {
    struct StopOthers {  // also when body throws
      std::atomic<std::int64_t>& next;
      std::int64_t count;
      ~StopOthers() { next.store(count); }
    } stop_others{next, count};
    for (std::int64_t i; (i = next.fetch_add(1)) < count;) body(thread, i);
  };
  std::vector<std::future<void>> running;
  for (int t = 1; t < threads; ++t) running.push_back(std::async(std::launch::async, take, t));
  std::future<void> own = std::async(std::launch::deferred, take, 0);
  own.wait();
  for (std::future<void>& one : running) one.wait();
  own.get();
  for (std::future<void>& one : running) one.get();
}

}  // namespace falcon::data
