#include "plan/resume.h"

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::plan {

void resume_from(const weights::CheckpointFacts& facts, Plan& plan) {
  std::vector<Fault> faults;
  const auto compare = [&](const char* key, const std::string& theirs, const std::string& ours) {
    if (theirs == ours) return;
    faults.push_back({plan.files.resume, 0, 0, key,
                      "the checkpoint is of " + base::printable(theirs) + ", the run has " + ours +
                          "; init takes its weights alone"});
  };
  const auto compare_numbers = [&](const char* key, std::int64_t theirs, std::int64_t ours) {
    compare(key, std::to_string(theirs), std::to_string(ours));
  };
  compare("model", facts.model, plan.spec.model);
  compare("optimizer.kind", facts.optimizer, plan.spec.optimizer.kind.value_or(""));
  compare_numbers("seed", facts.seed, plan.spec.seed);
  compare_numbers("data", facts.samples, plan.data.samples);
  compare_numbers("batch_size", facts.global_batch, plan.global_batch);
  if (!faults.empty()) throw InputError(std::move(faults));
  plan.first_step = facts.step;
}

}  // namespace falcon::plan
