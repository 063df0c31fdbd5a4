#include "report/input.h"

#include <algorithm>

namespace falcon::report {
namespace {

constexpr std::size_t kMaxItems = 100;

Measured<double> capacity(const Evidence& evidence) {
  if (evidence.records.size() < evidence.plan.ranks.size() || evidence.records.empty()) {
    return evidence.missing<double>();
  }
  double sum = 0;
  for (const WorkerRecords* rank : evidence.records) {
    if (!rank->loader.capacity_samples_per_s.has_value()) {
      return rank->loader.capacity_samples_per_s;
    }
    sum += *rank->loader.capacity_samples_per_s;
  }
  return sum;
}

/// In a later epoch another rank may meet the same damaged file: it is listed once.
void add_items(const std::vector<SkippedItem>& from, std::vector<SkippedItem>& to) {
  for (const SkippedItem& item : from) {
    if (to.size() >= kMaxItems) return;
    const bool is_known = std::any_of(to.begin(), to.end(), [&item](const SkippedItem& known) {
      return known.item == item.item;
    });
    if (!is_known) to.push_back(item);
  }
}

}  // namespace

Input make_input(const Evidence& evidence) {
  Input out;
  out.skipped = evidence.plan.data.skipped;
  for (const auto& [reason, count] : out.skipped) out.skipped_at_scan += count;
  add_items(evidence.plan.data.skipped_items, out.skipped_items);
  out.capacity_samples_per_s = capacity(evidence);
  out.copy_s = Measured<double>::missing("copies are timed as the phase h2d only");
  for (const WorkerRecords* rank : evidence.records) {
    const LoaderRecord& loader = rank->loader;
    out.file_bytes += loader.file_bytes;
    out.io_s += loader.io_s;
    out.decode_s += loader.decode_s;
    out.wait_s += loader.wait_s;
    out.threads += loader.threads;
    out.pictures_made_on = loader.pictures_made_on;
    for (const auto& [reason, count] : loader.skipped) {
      out.skipped[reason] += count;
      out.skipped_samples += count;
    }
    add_items(loader.skipped_items, out.skipped_items);
  }
  return out;
}

}  // namespace falcon::report
