// The metric of question answering.
#pragma once
#include <memory>

#include <falconbench/dataset.h>

#include "train/evaluation.h"

namespace falcon::train {

/// exact_match and f1 of the answers (data/squad_answers.h), from the logits of starts and ends
/// (outputs[0] and outputs[1], [B, S]). Only the best positions leave the device. dataset must
/// outlive it. Throws Error(kUsage) when it has no texts: it is not data::Squad made for an
/// evaluation.
std::unique_ptr<Metric> make_answer_metric(const Dataset& dataset);

}  // namespace falcon::train
