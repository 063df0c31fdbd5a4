// What a run learned and kept: evaluation, checkpoints, weights. Pure.
#pragma once
#include "falconbench/report_training.h"
#include "report/evidence.h"

namespace falcon::report {

/// Fills accuracy, evaluation, checkpoints, initial_weights, saved_weights and training_time_s.
/// REQUIRES: measured_s is there.
void add_learning(const Evidence& evidence, Training& out);

}  // namespace falcon::report
