// What the sections of the report are made from: the records that came in, brought to one view.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "falconbench/measured.h"
#include "falconbench/plan.h"
#include "falconbench/run_log.h"

namespace falcon::report {

struct Evidence {
  Evidence(const Plan& the_plan, const RunLog& the_log);

  /// The records of a rank, or nullptr.
  const WorkerRecords* of_rank(int rank) const;
  /// Why figures over all ranks cannot be given; empty when they can.
  const std::string& gap() const { return gap_; }
  template <class T>
  Measured<T> missing() const {
    return Measured<T>::missing(gap_);
  }

  /// The measured window without the pauses in it: what the steps took.
  double measured_s() const { return measured_s_; }

  const Plan& plan;
  const RunLog& log;
  std::vector<const WorkerRecords*> records;  // those that came in, by rank
  std::vector<double> steps_ms;               // of all ranks together; empty when there is a gap
  double begin_s = 0, end_s = 0;  // measured window, steady clock; equal when there is none

 private:
  std::string gap_;
  double measured_s_ = 0;
};

}  // namespace falcon::report
