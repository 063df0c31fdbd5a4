// `nvidia-smi nvlink -s` (state and rate of each link), `-R` and `-p` (what each link leads to).
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace falcon::platform {

struct NvlinkGpu {
  int index = 0;
  std::string name;
  int active = 0;
  int inactive = 0;
  bool tells_links = false;          // false: as `nvidia-smi -L` prints it
  std::vector<double> gb_per_s;      // of each active link, one way (-s)
  std::vector<std::string> remotes;  // of each link, as printed (-R, -p)
};

bool begins_nvlink_list(std::string_view line);
/// All forms. A GPU without links has an entry without them.
std::vector<NvlinkGpu> read_nvlink(std::string_view text);

}  // namespace falcon::platform
