#include "data/batch_schedule.h"

#include <bit>
#include <string>
#include <utility>

#include "base/counter_random.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

constexpr int kRounds =
    8;  // 4 make a strong pseudo-random permutation (Luby and Rackoff); small halves want more
constexpr std::uint64_t kOrderStream = 0x6F72646572;  // "order"

const BatchScheduleOptions& checked(const BatchScheduleOptions& o) {
  const auto fail = [](const std::string& text) { throw Error(ExitCode::kUsage, text); };
  if (o.global_batch < 1)
    fail("the global batch is " + std::to_string(o.global_batch) + ", it must be 1 or more");
  if (o.ranks < 1 || o.rank < 0 || o.rank >= o.ranks) {
    fail("rank " + std::to_string(o.rank) + " of " + std::to_string(o.ranks) + " does not exist");
  }
  if (o.global_batch % o.ranks != 0) {
    fail("the global batch of " + std::to_string(o.global_batch) +
         " samples cannot be divided by " + std::to_string(o.ranks) + " ranks");
  }
  if (o.whole && o.shuffle) fail("whole passes are not shuffled");
  if (!o.whole && o.global_batch > o.samples) {
    fail("the global batch of " + std::to_string(o.global_batch) +
         " samples is larger than the data set, which has " + std::to_string(o.samples) +
         " usable samples");
  }
  return o;
}

}  // namespace

BatchSchedule::BatchSchedule(const BatchScheduleOptions& options)
    : options_(checked(options)),
      rank_batch_(options.global_batch / options.ranks),
      steps_per_epoch_((options.samples + (options.whole ? options.global_batch - 1 : 0)) /
                       options.global_batch) {}

SampleKey BatchSchedule::sample(std::int64_t step, std::int64_t i) const {
  const std::int64_t this_epoch = epoch(step);
  const std::int64_t place = position(step, i);
  const std::int64_t index = options_.shuffle
                                 ? shuffled(place, options_.samples, options_.seed, this_epoch)
                                 : place % options_.samples;
  return {options_.seed, this_epoch, index};
}

std::int64_t shuffled(std::int64_t position, std::int64_t size, std::uint64_t seed,
                      std::int64_t epoch) {
  const std::uint64_t end = static_cast<std::uint64_t>(size);
  const int half_bits = (std::bit_width(end - 1) + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  const base::CounterRandom keys({seed, kOrderStream, static_cast<std::uint64_t>(epoch)});
  std::uint64_t x = static_cast<std::uint64_t>(position);
  do {
    std::uint64_t left = x >> half_bits;
    std::uint64_t right = x & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t mixed = base::mix64(keys.at(round) + right * base::kGoldenRatio64);
      left ^= (mixed >> 32) & mask;
      std::swap(left, right);
    }
    x = left << half_bits | right;
  } while (x >= end);
  return static_cast<std::int64_t>(x);
}

}  // namespace falcon::data
