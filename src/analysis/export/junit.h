// JUnit XML, as Jenkins, GitLab and GitHub actions read it.
#pragma once
#include <string>
#include <vector>

namespace falcon::analysis {

struct TestCase {
  std::string group, name;
  double time_s = 0;
  std::string failure, skipped;  // empty: it passed
  std::string output;
};
std::string junit_text(const std::string& suite, const std::vector<TestCase>& tests);

}  // namespace falcon::analysis
