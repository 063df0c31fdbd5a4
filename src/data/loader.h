// Turns a data set into batches: decode threads fill a ring of slots, several of which are in work
// at once; the trainer takes them in order. What a batch holds depends on the schedule and the
// files only, never on the number of threads.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "data/batch_schedule.h"
#include "data/skip_log.h"
#include "falconbench/dataset.h"
#include "falconbench/measured.h"

namespace falcon::data {

struct LoaderOptions {
  int threads = 1;
  int slots = 3;  // batches in memory at once, those held by the trainer included
  std::int64_t first_step = 0;
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();  // next() may be called this often
};

/// A slot filled for one step. Its memory is valid until release().
struct LoadedBatch {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::span<const std::int64_t> samples;  // indices really used, in batch order
  std::span<std::byte* const>
      tensors;  // in layout() order: [batch, sample_shape...], one contiguous array each
  std::span<std::byte> memory;  // the block of SlotAllocator that holds all of them
};

/// Totals since the start; subtract two to get those of a window.
struct LoaderStats {
  int threads = 0;
  std::int64_t samples = 0;  // decoded into slots
  std::int64_t batches = 0;  // handed out by next()
  std::int64_t file_bytes = 0;
  double io_s = 0;             // thread seconds: opening and reading
  double decode_s = 0;         // thread seconds: decoding, cropping, resizing
  double busy_s = 0;           // thread seconds in the data set, all together
  double consumer_wait_s = 0;  // seconds that next() waited
  /// What the threads can give when nobody holds them up: samples a busy thread second, times
  /// threads.
  Measured<double> own_rate_samples_per_s() const;
  LoaderStats since(const LoaderStats& earlier) const;
};

class Loader {
 public:
  /// Takes all memory and starts the threads. `dataset` and `allocator` must outlive the loader.
  /// Throws falcon::Error (kUsage) for fewer than 1 thread or 2 slots.
  Loader(const Dataset& dataset, const BatchSchedule& schedule, SlotAllocator& allocator,
         const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The batch of the next step; waits for it. One consumer thread. Rethrows what a decode thread
  /// threw, and throws falcon::Error: kHost when no sample of the data set is usable, kInternal
  /// after stop(), after the last step, or when every slot is held (it would wait for ever).
  const LoadedBatch& next();
  /// Gives the batch's slot back; any order, any thread.
  void release(const LoadedBatch& batch);
  /// Ends the threads and wakes a waiting next(); returns when they have ended, after at most one
  /// sample each.
  void stop();

  LoaderStats stats() const;
  /// Items that turned out unusable while loading, each counted once. A copy; any thread.
  SkipLog skipped() const;
  std::size_t slot_bytes() const { return slot_bytes_; }

 private:
  struct Slot;
  struct WorkerTotals;
  struct Worker;

  void lay_out_slots(SlotAllocator& allocator);
  void start_threads();
  void work(WorkerTotals& totals);
  bool wait_until_free(Slot& slot, std::int64_t step);
  std::int64_t fill(Slot& slot, std::int64_t i, const SampleKey& wanted, Worker& worker);
  void mark_unusable(std::int64_t index, SkippedItem item);
  [[noreturn]] void fail_without_samples() const;
  void finish(Slot& slot, std::int64_t step);
  void give_up(std::size_t thread);

  const Dataset& dataset_;
  const BatchSchedule schedule_;
  const LoaderOptions options_;
  const std::vector<TensorLayout> layout_;
  std::vector<std::size_t> offsets_;  // of each tensor in a slot
  std::size_t slot_bytes_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<WorkerTotals>> totals_;
  std::unique_ptr<std::atomic<bool>[]> is_unusable_;
  std::atomic<std::int64_t> next_ticket_{
      0};  // ticket = (step - first step) * batch + place in the batch
  std::atomic<bool> stopping_{false};

  mutable std::mutex mutex_;            // guards what follows and the slots' steps
  std::condition_variable slot_freed_;  // waited for by the threads
  std::condition_variable slot_ready_;  // waited for by next()
  std::int64_t next_step_;
  std::int64_t batches_ = 0;
  int held_ = 0;
  double consumer_wait_s_ = 0;
  SkipLog skipped_;
  std::shared_future<void> failed_;  // valid once a thread has thrown

  std::mutex stop_mutex_;
  std::vector<std::shared_future<void>> results_;
  std::vector<std::thread> threads_;
};

}  // namespace falcon::data
