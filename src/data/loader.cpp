#include "data/loader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "falconbench/clock.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

constexpr std::size_t kAlignment =
    256;  // of every tensor in a slot: whole cache lines, and what device copies like

const LoaderOptions& checked(const LoaderOptions& options) {
  if (options.threads < 1 || options.slots < 2) {
    throw Error(ExitCode::kUsage, "the loader needs at least 1 thread and 2 slots, not " +
                                      std::to_string(options.threads) + " and " +
                                      std::to_string(options.slots));
  }
  return options;
}

struct Release {
  SlotAllocator* allocator;
  void operator()(std::byte* memory) const noexcept { allocator->release(memory); }
};

}  // namespace

struct Loader::Slot {
  std::unique_ptr<std::byte, Release> memory;
  std::vector<std::byte*> tensors;
  std::vector<std::int64_t> samples;
  std::atomic<std::int64_t> free_for_step{0};  // threads may write samples of this step
  std::atomic<std::int64_t> unfinished{0};     // samples still to be written
  std::int64_t ready_step = -1;                // guarded by mutex_
  LoadedBatch batch;
};

// Written by one thread, read by stats().
struct alignas(64) Loader::WorkerTotals {
  std::atomic<std::int64_t> samples{0};
  std::atomic<std::int64_t> file_bytes{0};
  std::atomic<double> io_s{0};
  std::atomic<double> decode_s{0};
  std::atomic<double> busy_s{0};

  void add(std::int64_t read_samples, const ReadCost& cost, double seconds) {
    const auto grow = [](auto& total, auto by) {
      total.store(total.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    };
    grow(samples, read_samples);
    grow(file_bytes, cost.file_bytes);
    grow(io_s, cost.io_s);
    grow(decode_s, cost.decode_s);
    grow(busy_s, seconds);
  }
};

struct Loader::Worker {
  std::unique_ptr<ReadScratch> scratch;
  std::vector<std::byte*> destinations;
  WorkerTotals& totals;
};

Measured<double> LoaderStats::own_rate_samples_per_s() const {
  if (samples == 0 || busy_s <= 0) return Measured<double>::missing("no sample was read");
  return static_cast<double>(samples) / busy_s * threads;
}

LoaderStats LoaderStats::since(const LoaderStats& earlier) const {
  LoaderStats window = *this;
  window.samples -= earlier.samples;
  window.batches -= earlier.batches;
  window.file_bytes -= earlier.file_bytes;
  window.io_s -= earlier.io_s;
  window.decode_s -= earlier.decode_s;
  window.busy_s -= earlier.busy_s;
  window.consumer_wait_s -= earlier.consumer_wait_s;
  return window;
}

Loader::Loader(const Dataset& dataset, const BatchSchedule& schedule, SlotAllocator& allocator,
               const LoaderOptions& options)
    : dataset_(dataset),
      schedule_(schedule),
      options_(checked(options)),
      layout_(dataset.layout()),
      next_step_(options.first_step) {
  if (schedule.samples() != dataset.size()) {
    throw Error(ExitCode::kInternal,
                "the batch schedule is for " + std::to_string(schedule.samples()) +
                    " samples, the data set has " + std::to_string(dataset.size()));
  }
  is_unusable_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(dataset.size()));
  lay_out_slots(allocator);
  start_threads();
}

Loader::~Loader() {
  stop();
}

void Loader::lay_out_slots(SlotAllocator& allocator) {
  const std::size_t batch = static_cast<std::size_t>(schedule_.rank_batch());
  for (const TensorLayout& tensor : layout_) {
    offsets_.push_back(slot_bytes_);
    slot_bytes_ += (batch * tensor.sample_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  }
  for (int i = 0; i < options_.slots; ++i) {
    auto slot = std::make_unique<Slot>();
    slot->memory = {allocator.allocate(slot_bytes_), Release{&allocator}};
    for (const std::size_t offset : offsets_) slot->tensors.push_back(slot->memory.get() + offset);
    slot->samples.resize(batch);
    slot->free_for_step = options_.first_step + i;
    slot->unfinished = schedule_.rank_batch();
    slots_.push_back(std::move(slot));
  }
}

void Loader::start_threads() {
  struct StopUnlessDone {  // a thread that cannot be started leaves none behind
    Loader& loader;
    bool done = false;
    ~StopUnlessDone() {
      if (!done) loader.stop();
    }
  } guard{*this};
  for (int i = 0; i < options_.threads; ++i) totals_.push_back(std::make_unique<WorkerTotals>());
  std::vector<std::packaged_task<void()>> tasks;
  for (std::size_t t = 0; t < totals_.size(); ++t) {
    tasks.emplace_back([this, t] {
      struct NoticeEnd {
        Loader& loader;
        std::size_t thread;
        bool good = false;
        ~NoticeEnd() {
          if (!good) loader.give_up(thread);
        }
      } notice{*this, t};
      work(*totals_[t]);
      notice.good = true;
    });
    results_.push_back(tasks.back().get_future().share());
  }
  for (std::packaged_task<void()>& task : tasks) threads_.emplace_back(std::move(task));
  guard.done = true;
}

void Loader::work(WorkerTotals& totals) {
  const std::int64_t batch = schedule_.rank_batch();
  Worker worker{dataset_.make_scratch(), std::vector<std::byte*>(layout_.size()), totals};
  while (true) {
    const std::int64_t ticket = next_ticket_.fetch_add(1, std::memory_order_relaxed);
    if (ticket / batch >= options_.steps) return;
    const std::int64_t step = options_.first_step + ticket / batch;
    const std::int64_t i = ticket % batch;
    Slot& slot = *slots_[static_cast<std::size_t>(ticket / batch) % slots_.size()];
    if (!wait_until_free(slot, step)) return;
    slot.samples[static_cast<std::size_t>(i)] = fill(slot, i, schedule_.sample(step, i), worker);
    if (slot.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) finish(slot, step);
  }
}

bool Loader::wait_until_free(Slot& slot, std::int64_t step) {
  const auto is_free = [&] { return slot.free_for_step.load(std::memory_order_acquire) == step; };
  if (!is_free()) {
    std::unique_lock lock(mutex_);
    slot_freed_.wait(lock, [&] { return is_free() || stopping_.load(); });
  }
  return !stopping_.load();
}

// Reads sample i of the slot, or the next usable one behind it in the data set, and returns its
// index.
std::int64_t Loader::fill(Slot& slot, std::int64_t i, const SampleKey& wanted, Worker& worker) {
  for (std::size_t t = 0; t < layout_.size(); ++t) {
    worker.destinations[t] =
        slot.tensors[t] + static_cast<std::size_t>(i) * layout_[t].sample_bytes();
  }
  SampleKey key = wanted;
  for (std::int64_t tried = 0; tried < dataset_.size(); ++tried) {
    key.index = (wanted.index + tried) % dataset_.size();
    if (is_unusable_[static_cast<std::size_t>(key.index)].load(std::memory_order_relaxed)) continue;
    if (stopping_.load(std::memory_order_relaxed)) return key.index;  // nobody will look at it
    ReadCost cost;
    SkippedItem skipped;
    const double start_s = steady_now_s();
    const bool good = dataset_.read(key, worker.destinations, *worker.scratch, cost, skipped);
    worker.totals.add(good ? 1 : 0, cost, steady_now_s() - start_s);
    if (good) return key.index;
    mark_unusable(key.index, std::move(skipped));
  }
  fail_without_samples();
}

void Loader::mark_unusable(std::int64_t index, SkippedItem item) {
  std::atomic<bool>& is_unusable = is_unusable_[static_cast<std::size_t>(index)];
  if (is_unusable.exchange(true)) return;  // another thread met it at the same time
  const std::lock_guard lock(mutex_);
  skipped_.add(std::move(item));
}

void Loader::fail_without_samples() const {
  const auto facts = dataset_.facts();
  const auto folder = facts.find("folder");
  throw Error(ExitCode::kHost, "data " + (folder == facts.end() ? "set" : folder->second) +
                                   ": none of its " + std::to_string(dataset_.size()) +
                                   " samples is usable: " + skipped().summary());
}

void Loader::finish(Slot& slot, std::int64_t step) {
  slot.batch = {step, schedule_.epoch(step), slot.samples, slot.tensors,
                std::span(slot.memory.get(), slot_bytes_)};
  {
    const std::lock_guard lock(mutex_);
    slot.ready_step = step;
  }
  slot_ready_.notify_all();
}

void Loader::give_up(std::size_t thread) {
  {
    const std::lock_guard lock(mutex_);
    if (!failed_.valid()) failed_ = results_[thread];
    stopping_.store(true);
  }
  slot_freed_.notify_all();
  slot_ready_.notify_all();
}

const LoadedBatch& Loader::next() {
  std::unique_lock lock(mutex_);
  const std::int64_t place = next_step_ - options_.first_step;
  Slot& slot = *slots_[static_cast<std::size_t>(place) % slots_.size()];
  if (place >= options_.steps) {
    throw Error(ExitCode::kInternal, "the loader was asked for a step behind its last");
  }
  if (held_ == options_.slots) {
    throw Error(ExitCode::kInternal, "all " + std::to_string(held_) +
                                         " loader slots are held: one must be released first");
  }
  const auto is_ready = [&] { return slot.ready_step == next_step_; };
  if (!is_ready() && !stopping_.load()) {
    const double start_s = steady_now_s();
    slot_ready_.wait(lock, [&] { return is_ready() || stopping_.load(); });
    consumer_wait_s_ += steady_now_s() - start_s;
  }
  if (stopping_.load()) {
    const std::shared_future<void> failed = failed_;
    lock.unlock();
    if (failed.valid()) failed.get();
    throw Error(ExitCode::kInternal, "the loader has been stopped");
  }
  ++next_step_;
  ++batches_;
  ++held_;
  return slot.batch;
}

void Loader::release(const LoadedBatch& batch) {
  const std::size_t place = static_cast<std::size_t>(batch.step - options_.first_step);
  Slot& slot = *slots_[place % slots_.size()];
  {
    const std::lock_guard lock(mutex_);
    --held_;
    slot.unfinished.store(schedule_.rank_batch(), std::memory_order_relaxed);
    slot.free_for_step.store(batch.step + options_.slots, std::memory_order_release);
  }
  slot_freed_.notify_all();
}

void Loader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true);
  }
  slot_freed_.notify_all();
  slot_ready_.notify_all();
  const std::lock_guard lock(stop_mutex_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

LoaderStats Loader::stats() const {
  LoaderStats stats;
  stats.threads = options_.threads;
  for (const auto& worker : totals_) {
    stats.samples += worker->samples.load(std::memory_order_relaxed);
    stats.file_bytes += worker->file_bytes.load(std::memory_order_relaxed);
    stats.io_s += worker->io_s.load(std::memory_order_relaxed);
    stats.decode_s += worker->decode_s.load(std::memory_order_relaxed);
    stats.busy_s += worker->busy_s.load(std::memory_order_relaxed);
  }
  const std::lock_guard lock(mutex_);
  stats.batches = batches_;
  stats.consumer_wait_s = consumer_wait_s_;
  return stats;
}

SkipLog Loader::skipped() const {
  const std::lock_guard lock(mutex_);
  return skipped_;
}

}  // namespace falcon::data
