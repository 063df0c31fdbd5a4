// The storage of a run's data before and after it: the page cache brought to the state that
// data.cache asks for, and how fast the storage gives files.
#pragma once
#include <filesystem>
#include <vector>

#include "cli/patience.h"
#include "falconbench/dataset.h"
#include "falconbench/host.h"
#include "falconbench/plan.h"
#include "falconbench/storage_sight.h"

namespace falcon::cli {

class DataStorage {
 public:
  /// dataset: of the training files; nullptr or without files: there is nothing to look at.
  /// patience: ends the work by throwing. Takes seconds, or as long as data.cache: warm needs to
  /// read the set.
  void prepare(const Plan& plan, const Host& host, const Dataset* dataset,
               const Patience& patience);
  /// After the run. Also of one that was never prepared.
  StorageSight finish(const Plan& plan);

 private:
  void make_cold(const Dataset& dataset, const std::string& folder, CacheState& state);
  void make_warm(const Dataset& dataset, const Host& host, int threads, const Patience& patience,
                 CacheState& state) const;

  std::vector<std::filesystem::path> sample_;
  StorageSight sight_;
};

}  // namespace falcon::cli
