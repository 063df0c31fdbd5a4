// What tests of whole runs share: a plan, quick limits, and the check that nothing is left behind.
#pragma once
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "falconbench/plan.h"
#include "falconbench/run_log.h"
#include "launch/launcher.h"

namespace falcon::launch {

/// num_ranks CPU workers.
Plan plan_of(int num_ranks);

/// The scripted worker with these words (see scripted_worker.cpp), and limits that end a test soon.
LaunchOptions options_of(std::vector<std::string> words);

/// Details of the events of one kind, of one rank.
std::vector<std::string> details_of(const RunLog& log, const std::string& what, int rank);

/// Descriptors of this process.
int count_descriptors();
/// A zombie is not: whoever is its parent now reaps it in its own time.
bool is_process_there(long pid);

/// Every test of it ends without a child, a zombie or a descriptor more than before.
class LaunchTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

 private:
  int descriptors_before_ = 0;
};

}  // namespace falcon::launch
