#include "data/storage_probe.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "base/counter_random.h"
#include "data/file_access.h"
#include "data/file_bytes.h"
#include "data/parallel_for.h"
#include "falconbench/clock.h"
#include "falconbench/spec_data.h"
#include "measure/statistics.h"

namespace falcon::data {
namespace {

constexpr std::uint64_t kShuffleSeed = 0x70726F6265;  // "probe"

/// One trial in work.
class Trial {
 public:
  Trial(const Dataset& dataset, const FileAccess& access, std::vector<std::int64_t> order,
        const ProbeBounds& bounds, const ProbeSurroundings& surroundings)
      : dataset_(dataset),
        access_(access),
        order_(std::move(order)),
        bounds_(bounds),
        surroundings_(surroundings) {}

  ReadTrial run(int threads) {
    const Measured<std::int64_t> before = surroundings_.storage_bytes();
    std::vector<std::vector<double>> file_ms(static_cast<std::size_t>(threads));
    began_s_ = steady_now_s();
    parallel_for(threads, threads, [&](int, std::int64_t reader) {
      read_files(file_ms[static_cast<std::size_t>(reader)]);
    });
    ReadTrial out;
    out.threads = threads;
    out.time_s = steady_now_s() - began_s_;
    out.bytes = bytes_;
    fill_times(file_ms, out);
    out.bytes_per_s = static_cast<double>(out.bytes) / out.time_s;
    out.files_per_s = static_cast<double>(out.files) / out.time_s;
    out.ended_by = is_late_ ? "time" : bytes_ >= bounds_.bytes ? "bytes" : "all files";
    const Measured<std::int64_t> after = surroundings_.storage_bytes();
    out.storage_bytes = after;
    if (!before.has_value()) out.storage_bytes = before;
    if (out.storage_bytes.has_value()) out.storage_bytes = *after - *before;
    return out;
  }

 private:
  void read_files(std::vector<double>& file_ms) {
    FileBytes file;
    std::string problem;
    while (bytes_ < bounds_.bytes) {
      surroundings_.check();
      const double start_s = steady_now_s();
      if (start_s - began_s_ >= bounds_.seconds) {
        is_late_ = true;
        return;
      }
      const auto at = static_cast<std::size_t>(next_++);
      if (at >= order_.size()) return;
      if (!file.read(dataset_.file(order_[at]), problem, access_)) continue;  // the run counts it
      file_ms.push_back((steady_now_s() - start_s) * 1e3);
      bytes_ += std::ssize(file.bytes());
    }
  }

  static void fill_times(const std::vector<std::vector<double>>& file_ms, ReadTrial& out) {
    std::vector<double> all;
    for (const std::vector<double>& part : file_ms) all.insert(all.end(), part.begin(), part.end());
    out.files = std::ssize(all);
    if (all.empty()) return;
    std::ranges::sort(all);
    out.file_ms_p50 = measure::percentile(all, 0.5);
    out.file_ms_p99 = measure::percentile(all, 0.99);
  }

  const Dataset& dataset_;
  const FileAccess& access_;
  const std::vector<std::int64_t> order_;
  const ProbeBounds& bounds_;
  const ProbeSurroundings& surroundings_;
  double began_s_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<bool> is_late_{false};
};

std::vector<std::int64_t> numbers(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(to - from));
  std::iota(out.begin(), out.end(), from);
  return out;
}

}  // namespace

StorageProbe probe_storage(const Dataset& dataset, int threads, const ProbeBounds& bounds,
                           const ProbeSurroundings& surroundings) {
  const std::int64_t count = dataset.file_count();
  const FileAccess access(kDirectIo, dataset.file(0));
  StorageProbe probe;
  Trial sequential(dataset, access, numbers(0, count), bounds, surroundings);
  probe.sequential = sequential.run(1);
  probe.sequential.order = "as listed";
  const std::int64_t seen = probe.sequential.files;
  std::vector<std::int64_t> order = numbers(count - seen >= seen ? seen : 0, count);
  base::CounterRandom random({kShuffleSeed});
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  Trial shuffled(dataset, access, std::move(order), bounds, surroundings);
  probe.random = shuffled.run(thread_count(threads, count));
  probe.random.order = "random";
  const FileReading reading = access.reading();
  probe.io = reading.used;
  probe.fallback = reading.fallback;
  return probe;
}

}  // namespace falcon::data
