#include "analysis/export/wall_time.h"

#include <chrono>
#include <cstdio>

namespace falcon::analysis {

std::optional<double> wall_time_s(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  double second = 0;
  char zone = 0;
  const int read = std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%lf%c", &year, &month, &day,
                               &hour, &minute, &second, &zone);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (read != 7 || zone != 'Z' || !date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return static_cast<double>(std::chrono::seconds(days).count()) + hour * 3600 + minute * 60 +
         second;
}

}  // namespace falcon::analysis
