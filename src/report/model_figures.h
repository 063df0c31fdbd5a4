// How well the model uses the devices.
#pragma once
#include "falconbench/catalog.h"
#include "falconbench/report_training.h"
#include "report/evidence.h"

namespace falcon::report {

/// Model FLOPs utilisation as in Chowdhery et al., "PaLM", 2022, appendix B: the FLOPs that the
/// model needs (not those that recomputation or padding add) over the peak of all devices.
ModelFigures make_model_figures(const Evidence& evidence, const Throughput& throughput,
                                const ModelFacts* model, const PrecisionFacts* precision);

}  // namespace falcon::report
