#include "platform/environment.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <unistd.h>

namespace falcon::platform {
namespace {

constexpr auto kNames = std::to_array<std::string_view>({
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "FALCONBENCH_NVML_LIBRARY",
    "GLOO_SOCKET_IFNAME",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MALLOC_ARENA_MAX",
    "MASTER_ADDR",
    "MASTER_PORT",
    "MKL_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "NVIDIA_VISIBLE_DEVICES",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OPENBLAS_NUM_THREADS",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "RANK",
    "SLURM_JOB_NUM_NODES",
    "SLURM_LOCALID",
    "SLURM_NTASKS",
    "SLURM_PROCID",
    "WORLD_SIZE",
});
constexpr auto kPrefixes = std::to_array<std::string_view>({"NCCL_", "TORCH_NCCL_"});
constexpr auto kSecretNames =
    std::to_array<std::string_view>({"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "KEY"});
constexpr auto kTokenPrefixes = std::to_array<std::string_view>(
    {"ghp_", "gho_", "github_pat_", "glpat-", "hf_", "sk-", "xoxb-", "xoxp-", "AKIA", "eyJ"});
// A UUID's longest unbroken run is 12; keys and hashes have 32 and more.
constexpr std::size_t kLongestPlainRun = 31;

bool is_shown(const std::string& name) {
  for (const std::string_view word : kSecretNames) {
    if (name.find(word) != std::string::npos) return false;
  }
  return std::binary_search(kNames.begin(), kNames.end(), std::string_view(name)) ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

Environment process_environment() {
  Environment all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

bool is_secret_like(std::string_view value) {
  for (const std::string_view prefix : kTokenPrefixes) {
    if (value.starts_with(prefix)) return true;
  }
  const std::size_t scheme = value.find("://");
  if (scheme != std::string_view::npos) {
    const std::string_view authority =
        value.substr(scheme + 3, value.find('/', scheme + 3) - scheme - 3);
    if (authority.find('@') != std::string_view::npos) return true;
  }
  std::size_t run = 0;
  for (const char c : value) {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '=';
    run = is_part ? run + 1 : 0;
    if (run > kLongestPlainRun) return true;
  }
  return false;
}

Environment shown_environment(const Environment& all) {
  Environment shown;
  for (const auto& [name, value] : all) {
    if (!is_shown(name)) continue;
    shown.emplace(name, is_secret_like(value) ? "(not shown: looks like a secret)" : value);
  }
  return shown;
}

}  // namespace falcon::platform
