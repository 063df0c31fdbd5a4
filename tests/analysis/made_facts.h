// Runs with known figures, for tests of comparisons.
#pragma once
#include <string>
#include <vector>

#include "analysis/run_facts.h"

namespace falcon::analysis {

inline RunFacts made_facts(const std::string& id, const std::string& topology, double rate) {
  RunFacts run;
  run.id = id;
  run.file = id + ".json";
  run.status = "ok";
  run.model = "bert_large";
  run.topology = topology;
  run.devices = 2;
  run.has_gpus = true;
  run.devices_text = "2 x NVIDIA H200";
  run.work = {{"model", "bert_large"}, {"precision", "fp16"}};
  run.settings = {{"topology", topology}, {"storage", ""}};
  run.samples_per_s = rate;
  run.sample_time_ms = 1000 / rate;
  run.step_ms = 10.0;
  run.step_ci95_ms = 0.1;
  return run;
}

inline std::vector<RunFacts> made_repeats(const std::string& name, const std::string& topology,
                                          const std::vector<double>& rates) {
  std::vector<RunFacts> runs;
  for (const double rate : rates) {
    runs.push_back(made_facts(name + std::to_string(runs.size()), topology, rate));
  }
  return runs;
}

}  // namespace falcon::analysis
