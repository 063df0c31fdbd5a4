// Floating-point operations of the convolutions and matrix products that a piece of code runs,
// counted from the calls themselves (1 multiply-add = 2), as torch.utils.flop_counter does.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace falcon::test {

/// By operator name with a dot: aten.convolution, aten.addmm, aten.bmm (attention).
std::map<std::string, std::int64_t> count_flops(const std::function<void()>& work);

}  // namespace falcon::test
