#include "train/generator.h"

#include <mutex>

#include <ATen/Context.h>

#include "base/counter_random.h"

namespace falcon::train {

void seed_step(at::Device device, std::int64_t seed, int rank, std::int64_t step) {
  base::CounterRandom random({static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(rank),
                              static_cast<std::uint64_t>(step)});
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(random.next());
}

}  // namespace falcon::train
