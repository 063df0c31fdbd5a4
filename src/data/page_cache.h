// The page cache as far as it holds a data set: what of it is there, dropping it, filling it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "falconbench/dataset.h"
#include "falconbench/measured.h"

namespace falcon::data {

/// At most `most` files of the set, evenly spread.
std::vector<std::filesystem::path> sample_files(const Dataset& dataset, std::int64_t most);

struct Residency {
  Measured<double> pct;    // of the pages of the files that are in the page cache
  std::int64_t bytes = 0;  // of these files
};
/// By mincore(2), which tells only the owner of a file, or who may write it. Files that are gone do
/// not count.
Residency residency(std::span<const std::filesystem::path> files);

/// posix_fadvise(POSIX_FADV_DONTNEED) for every file of the set. Pages that are not written yet
/// stay, as do those that somebody has mapped. "" or what went wrong first. threads 0: one per
/// core.
std::string drop_from_cache(const Dataset& dataset, int threads);

/// Reads every file of the set. `check` is called often, from any thread; what it throws passes
/// through. Returns the bytes read.
std::int64_t read_through(const Dataset& dataset, int threads, const std::function<void()>& check);

}  // namespace falcon::data
