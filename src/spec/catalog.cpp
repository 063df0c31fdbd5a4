#include "falconbench/catalog.h"

#include <algorithm>

namespace falcon::catalog {
namespace {

template <class Facts>
std::vector<std::string> names(std::span<const Facts> table) {
  std::vector<std::string> words;
  for (const Facts& facts : table) words.push_back(facts.name);
  return words;
}

template <class Facts>
const Facts* find(std::span<const Facts> table, std::string_view name) {
  for (const Facts& facts : table) {
    if (facts.name == name) return &facts;
  }
  return nullptr;
}

}  // namespace

const ModelFacts* find_model(std::string_view name) {
  return find(models(), name);
}

const PrecisionFacts* find_precision(std::string_view name) {
  return find(precisions(), name);
}

const StrategyFacts* find_parallelism(std::string_view name) {
  return find(parallelisms(), name);
}

const DatasetFacts* find_dataset(std::string_view name) {
  return find(datasets(), name);
}

const TaskFacts* find_evaluated_task(std::string_view name) {
  return find(evaluated_tasks(), name);
}

const WordFacts* find_word(std::span<const WordFacts> table, std::string_view name) {
  return find(table, name);
}

bool takes(const WordFacts& word, std::string_view key) {
  return std::find(word.options.begin(), word.options.end(), key) != word.options.end();
}

std::vector<std::string> words(std::string_view list) {
  if (list == "models") return names(models());
  if (list == "precisions") return names(precisions());
  if (list == "parallelism") return names(parallelisms());
  if (list == "datasets") return names(datasets());
  if (list == "augmentations") return names(augmentations());
  if (list == "optimizers") return names(optimizers());
  if (list == "schedules") return names(schedules());
  if (list == "samplers") return names(samplers());
  if (list == "findings") return names(findings());
  if (list == "topologies") return names(topologies());
  if (list == "storages") return names(storages());
  if (list == "squad_versions") return {"v1.1", "v2.0"};
  if (list == "auto_on_off") return {"auto", "on", "off"};
  if (list == "file_ios") return {kBufferedIo, kDirectIo, kUringIo};
  if (list == "cache_states") return {kAnyCache, kColdCache, kWarmCache};
  if (list == "on_off") return {"on", "off"};
  if (list == "gradient_dtypes") return {"fp32", "fp16", "bf16"};
  if (list == "decays") return {"all", kDecayWeightsOnly};
  if (list == "checkpoint_times") return {"epoch"};
  if (list == "attach") return {"local", "falcon"};
  if (list == "falcon_links") return {kHostStaged};
  if (list == "drawer_modes") return {"one_host", "two_hosts", "two_links", "advanced"};
  if (list == "pair_classes") return names(pair_classes());
  if (list == "link_classes") return names(link_classes());
  return {};
}

}  // namespace falcon::catalog
