// A machine as a page of text: tables, and what is wrong with it.
#pragma once
#include <string>

#include "base/value.h"

namespace falcon::cli {

/// From the answers that --json prints; at most 100 columns but for matrices of many GPUs.
std::string doctor_page(const base::Value& answers);

}  // namespace falcon::cli
