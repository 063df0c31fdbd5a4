// Wall clock of a report as a number.
#pragma once
#include <optional>
#include <string>

namespace falcon::analysis {

/// Seconds since 1970 of 2026-01-31T12:00:00.000Z, the form of run.started_at; nothing for another
/// form.
std::optional<double> wall_time_s(const std::string& text);

}  // namespace falcon::analysis
