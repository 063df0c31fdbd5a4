#include "launch_testing.h"

#include <cerrno>
#include <fstream>

#include <dirent.h>
#include <sys/wait.h>

namespace falcon::launch {

Plan plan_of(int num_ranks) {
  Plan plan;
  plan.run_id = "test";
  for (int i = 0; i < num_ranks; ++i) {
    RankPlan rank;
    rank.rank = i;
    rank.devices = {{"cpu", "", "", "CPU"}};
    rank.compute_threads = 3;
    plan.ranks.push_back(rank);
  }
  return plan;
}

LaunchOptions options_of(std::vector<std::string> words) {
  LaunchOptions options;
  options.executable = SCRIPTED_WORKER;
  options.extra_arguments = std::move(words);
  // what no test waits for is long enough for a machine with more work than cores
  options.limits.alive_timeout_s = 10;
  options.limits.progress_min_s = 10;
  options.limits.setup_timeout_s = 10;
  options.limits.teardown_timeout_s = 1;
  options.limits.stop_grace_s = 1;
  options.limits.finish_grace_s = 2;
  return options;
}

std::vector<std::string> details_of(const RunLog& log, const std::string& what, int rank) {
  std::vector<std::string> details;
  for (const RunEvent& event : log.events) {
    if (event.what == what && event.rank == rank) details.push_back(event.detail);
  }
  return details;
}

int count_descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  int count = -1;  // the folder's own
  while (folder != nullptr && readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

bool is_process_there(long pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return false;
  return text.substr(text.rfind(')') + 2, 1) != "Z";
}

void LaunchTest::SetUp() {
  descriptors_before_ = count_descriptors();
}

void LaunchTest::TearDown() {
  EXPECT_EQ(count_descriptors(), descriptors_before_);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child or a zombie is left";
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace falcon::launch
