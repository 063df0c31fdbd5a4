// The models there are. make_model() of falconbench/model.h looks here.
#pragma once
#include <string>
#include <vector>

namespace falcon::models {

/// Names in catalog order.
std::vector<std::string> model_names();

}  // namespace falcon::models
