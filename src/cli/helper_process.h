// A child of this program that loads the engine, answers with one line of JSON, and ends.
#pragma once
#include <string>
#include <vector>

#include "cli/patience.h"

namespace falcon::cli {

struct Helper {
  std::string what;                      // for messages: "the probe of ..."
  std::vector<std::string> words;        // after "falconbench worker"
  std::vector<std::string> environment;  // NAME=VALUE
  double limit_s = 120;
};

/// Its last line: libraries may write warnings before it. patience: what may end the waiting, or
/// nullptr. Throws Error(kHost) when the child fails, Error(kHang) when it does not answer in time,
/// and what patience throws.
std::string answer_of(const Helper& helper, const Patience* patience);

}  // namespace falcon::cli
