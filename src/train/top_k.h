// The metric of classification.
#pragma once
#include <memory>

#include "train/evaluation.h"

namespace falcon::train {

/// top1 and top5: share of the samples whose label is the largest, or among the five largest, of
/// the logits (outputs[0], [B, classes]; batch tensor labels, [B]).
std::unique_ptr<Metric> make_top_k();

}  // namespace falcon::train
