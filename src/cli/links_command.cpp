// falconbench links: what the links between GPUs, and between GPUs and host memory, really carry.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include <cxxopts.hpp>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/links_places.h"
#include "cli/links_run.h"
#include "cli/logging.h"
#include "cli/patience.h"
#include "cli/probe.h"
#include "falconbench/clock.h"
#include "plan/make.h"
#include "plan/placement.h"
#include "platform/detect.h"
#include "platform/merge_probe.h"
#include "report/links/make.h"
#include "report/links/page.h"
#include "report/report_file.h"
#include "spec/system_file.h"

namespace falcon::cli {
namespace {

struct LinksArguments {
  std::string system, output;
  std::string topology = "all";
  std::optional<std::int64_t> devices;
  std::optional<double> timeout_s;
  bool json = false, quiet = false, verbose = false;
};

LinksArguments parse(const Words& words) {
  LinksArguments arguments;
  cxxopts::Options options("falconbench links");
  auto add = options.add_options();
  add("system", "", cxxopts::value(arguments.system));
  add("topology", "", cxxopts::value(arguments.topology));
  add("devices", "", cxxopts::value<std::int64_t>());
  add("timeout-s", "", cxxopts::value<double>());
  add("output", "", cxxopts::value(arguments.output));
  add("json", "", cxxopts::value(arguments.json));
  add("quiet", "", cxxopts::value(arguments.quiet));
  add("verbose", "", cxxopts::value(arguments.verbose));
  std::vector<const char*> argv = {"falconbench links"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  try {
    const cxxopts::ParseResult parsed = options.parse(static_cast<int>(argv.size()), argv.data());
    if (!parsed.unmatched().empty()) {
      throw Error(ExitCode::kUsage, "links: unknown word \"" + parsed.unmatched().front() +
                                        "\"; see falconbench links --help");
    }
    if (parsed.count("devices") > 0) arguments.devices = parsed["devices"].as<std::int64_t>();
    if (parsed.count("timeout-s") > 0) arguments.timeout_s = parsed["timeout-s"].as<double>();
  } catch (const cxxopts::exceptions::exception& error) {
    throw Error(ExitCode::kUsage,
                std::string("links: ") + error.what() + "; see falconbench links --help");
  }
  if (arguments.devices.value_or(1) < 1) {
    throw Error(ExitCode::kUsage, "links: --devices must be at least 1");
  }
  if (!(arguments.timeout_s.value_or(1) > 0)) {
    throw Error(ExitCode::kUsage, "links: --timeout-s must be above 0");
  }
  return arguments;
}

// Detection, placement, the check of the libraries, then all that is measured.
ExitCode measure(const LinksArguments& arguments, Log& log, launch::SignalWatch& signals,
                 double started_s, report::LinksInput& input) {
  const auto nvml = std::make_shared<const platform::Nvml>();
  platform::DetectOptions detection;
  detection.nvml = nvml;
  input.host = platform::detect(detection);
  if (!arguments.system.empty()) input.system = spec::load_system_file(arguments.system);
  if (arguments.topology != "cpu" && input.host.gpus.empty()) {
    throw Error(ExitCode::kHost,
                "links: this host has no GPU (" + input.host.driver.reason +
                    "); --topology cpu measures host memory and collectives between CPU workers");
  }
  const auto place = [&] {
    return plan::place(input.requested, arguments.devices, input.host, input.system);
  };
  place();  // refuses before CUDA is asked, which takes seconds
  const Patience patience(signals, started_s, arguments.timeout_s);
  const ProbeFacts facts = probe(&patience);
  platform::merge_probe(input.host, facts);
  check_libraries(facts);
  const plan::Placement placement = place();
  find_link_places(placement, input);
  return measure_links(placement, {started_s, arguments.timeout_s}, log, signals, input);
}

/// What could not even be begun, as a result.
ExitCode fail(const Error& error, report::LinksInput& input) {
  RunFailure failure;
  failure.kind = error.code() == ExitCode::kHost   ? "host"
                 : error.code() == ExitCode::kHang ? "deadline"
                                                   : "exception";
  failure.message = error.what();
  failure.host = input.host.hostname;
  failure.phase = "start";
  input.failure = failure;
  return error.code();
}

void close_run(ExitCode code, double started_s, report::LinksInput& input) {
  const bool is_interrupt = code == ExitCode::kInterrupted || code == ExitCode::kTerminated;
  input.run.status = code == ExitCode::kOk ? "ok" : is_interrupt ? "interrupted" : "failed";
  input.run.exit_code = static_cast<int>(code);
  input.run.ended_at = wall_now_text();
  input.run.duration_s = steady_now_s() - started_s;
  input.run.hostname = input.host.hostname;
}

}  // namespace

ExitCode links_command(const std::string& program, const Words& words) {
  const auto asks_for_help = [](const std::string& word) {
    return word == "--help" || word == "-h";
  };
  if (std::any_of(words.begin(), words.end(), asks_for_help)) {
    std::fputs(kLinksHelp, stdout);
    return ExitCode::kOk;
  }
  const LinksArguments arguments = parse(words);
  Log log(arguments.quiet, arguments.verbose);
  std::optional<report::ReportFile> file;
  if (!arguments.output.empty()) file.emplace(arguments.output);
  report::LinksInput input;
  const double started_s = steady_now_s();
  input.run.id = plan::new_run_id();
  input.run.started_at = wall_now_text();
  input.run.command_line = {program, "links"};
  input.run.command_line.insert(input.run.command_line.end(), words.begin(), words.end());
  input.requested.name = arguments.topology;
  launch::SignalWatch signals;
  ExitCode code = ExitCode::kOk;
  try {
    code = measure(arguments, log, signals, started_s, input);
  } catch (const Error& error) {
    if (error.code() == ExitCode::kUsage) throw;
    code = fail(error, input);
  }
  close_run(code, started_s, input);
  const LinksReport report = report::make_links(input);
  if (file) file->write(report);
  const std::string text =
      arguments.json ? report::to_text(report)
                     : report::links_page(report, arguments.output, colours_wanted(STDOUT_FILENO));
  const bool has_page = !arguments.quiet && !report.devices.empty();
  if (has_page || arguments.json) std::fputs(text.c_str(), stdout);
  if (input.failure) std::fprintf(stderr, "falconbench: %s\n", input.failure->message.c_str());
  return code;
}

}  // namespace falcon::cli
