// Which environment variables a report may show.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace falcon::platform {

using Environment = std::map<std::string, std::string>;

/// All variables of this process.
Environment process_environment();

/// Those that change how a run goes (GPU choice, NCCL, threads, launchers' ranks). A value that
/// looks like a secret is replaced by a remark.
Environment shown_environment(const Environment& all);

/// A long unbroken run of letters and digits, a known token prefix, or user:password@ in an
/// address.
bool is_secret_like(std::string_view value);

}  // namespace falcon::platform
