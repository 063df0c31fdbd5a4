#include "links/host_copies.h"

#include <cstring>
#include <vector>

#include <falconbench/clock.h>

#include "links/host_pattern.h"
#include "links/windows.h"

namespace falcon::links {
namespace {

constexpr std::int64_t kMostRepeats = 4096;

class Buffers {
 public:
  explicit Buffers(std::int64_t bytes)
      : source_(static_cast<std::size_t>(bytes) / 8), target_(source_.size()) {}

  void prepare(std::int64_t bytes, std::uint64_t seed) {
    fill_words(source_.data(), bytes / 8, seed);
    fill_words(target_.data(), bytes / 8, ~seed);
  }
  double copy(std::int64_t bytes, std::int64_t repeats) {
    const double begin_s = steady_now_s();
    for (std::int64_t i = 0; i < repeats; ++i) {
      std::memcpy(target_.data(), source_.data(), static_cast<std::size_t>(bytes));
      asm volatile("" ::: "memory");  // else the compiler may copy once for all
    }
    return steady_now_s() - begin_s;
  }
  bool has_arrived(std::int64_t bytes, std::uint64_t seed) const {
    return are_words(target_.data(), bytes / 8, seed);
  }

 private:
  std::vector<std::uint64_t> source_, target_;
};

}  // namespace

LinkResult measure_host_copies(const CopyTask& task, const LinkWork& work,
                               const std::function<void()>& on_size) {
  LinkResult result;
  Buffers buffers(task.sizes_bytes.back());
  std::uint64_t seed = 1;
  for (const std::int64_t bytes : task.sizes_bytes) {
    LinkWindows windows;
    windows.size_bytes = bytes;
    windows.contents_match = true;
    buffers.prepare(bytes, seed);
    const double trial_s = buffers.copy(bytes, kTrialRepeats);
    windows.repeats =
        repeats_for(trial_s / static_cast<double>(kTrialRepeats), work.window_s, kMostRepeats);
    windows.flow_seconds.resize(1);
    for (std::int64_t window = 0; window < work.windows; ++window, ++seed) {
      buffers.prepare(bytes, seed);
      windows.seconds.push_back(buffers.copy(bytes, windows.repeats));
      windows.flow_seconds.front().push_back(windows.seconds.back());
      windows.contents_match = windows.contents_match && buffers.has_arrived(bytes, seed);
    }
    result.by_size.push_back(std::move(windows));
    on_size();
  }
  return result;
}

}  // namespace falcon::links
