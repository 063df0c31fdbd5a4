// What `nvidia-smi --query-gpu=... --format=csv` prints, with its header: once, or again and again
// (a row a GPU and moment).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace falcon::platform {

struct CsvGpu {
  std::optional<int> index;
  std::string bus_id, name, uuid;  // empty: the query does not have it, or N/A
  std::optional<int> gen_max, gen_cur, width_max, width_cur;  // gen_cur: the highest seen
  std::optional<double> power_limit_w;
};

/// A line of names of columns.
bool begins_gpu_csv(std::string_view line);
/// One entry a GPU, in the order of the file. Throws Error(kUsage) on a row with another number of
/// fields than the header.
std::vector<CsvGpu> read_gpu_csv(std::string_view text);

}  // namespace falcon::platform
