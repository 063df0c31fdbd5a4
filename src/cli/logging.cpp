#include "cli/logging.h"

#include <cstdlib>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/progress.h"

namespace falcon::cli {

bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) != 0;
}

bool colours_wanted(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(fd) != 0 && (no_color == nullptr || *no_color == '\0');
}

Log::Log(bool quiet, bool verbose) {
  const auto mode =
      colours_wanted(STDERR_FILENO) ? spdlog::color_mode::always : spdlog::color_mode::never;
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(mode);
  auto logger = std::make_shared<spdlog::logger>("falconbench", std::move(sink));
  logger->set_pattern("%H:%M:%S.%e %^%l%$ %v");
  logger->set_level(quiet     ? spdlog::level::err
                    : verbose ? spdlog::level::debug
                              : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void Log::write(int level, const std::string& text) {
  if (progress_ != nullptr) progress_->clear();
  spdlog::log(static_cast<spdlog::level::level_enum>(level), "{}", text);
}

void Log::info(const std::string& text) {
  write(spdlog::level::info, text);
}
void Log::warn(const std::string& text) {
  write(spdlog::level::warn, text);
}
void Log::debug(const std::string& text) {
  write(spdlog::level::debug, text);
}

void Log::worker(int rank, const std::string& line) {
  write(spdlog::level::info, "[rank " + std::to_string(rank) + "] " + base::printable(line, 2000));
}

}  // namespace falcon::cli
