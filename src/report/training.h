// The `training` section from the workers' records. Pure.
#pragma once
#include "falconbench/catalog.h"
#include "falconbench/report_training.h"
#include "report/evidence.h"

namespace falcon::report {

/// model and precision: the catalog's rows, nullptr where there is none (figures that need them are
/// then missing, with the reason).
Training make_training(const Evidence& evidence, const ModelFacts* model,
                       const PrecisionFacts* precision);

}  // namespace falcon::report
