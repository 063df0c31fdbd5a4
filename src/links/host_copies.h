// Copies from host memory to host memory by one thread: what staging through the host costs at
// least, and what a host without a GPU can measure.
#pragma once
#include <functional>

#include <falconbench/links_work.h>

namespace falcon::links {

/// Times memcpy by size. on_size is called after each size.
LinkResult measure_host_copies(const CopyTask& task, const LinkWork& work,
                               const std::function<void()>& on_size);

}  // namespace falcon::links
