#include "train/parameter_hash.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>

#include "base/counter_random.h"

namespace falcon::train {
namespace {

class Hash {
 public:
  void add(std::span<const std::byte> bytes) {
    std::size_t place = 0;
    for (; place + sizeof(std::uint64_t) <= bytes.size(); place += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + place, sizeof word);
      add(word);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, bytes.data() + place, bytes.size() - place);
    add(rest);
    add(static_cast<std::uint64_t>(bytes.size()));
  }
  void add(std::uint64_t word) { state_ = base::mix64(state_ + base::kGoldenRatio64) ^ word; }
  std::uint64_t value() const { return base::mix64(state_); }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace

std::string parameter_hash(const std::vector<NamedTensor>& parameters) {
  Hash hash;
  for (const NamedTensor& parameter : parameters) {
    const at::Tensor values = parameter.tensor.detach().to(at::kCPU).contiguous();
    hash.add(std::as_bytes(std::span(parameter.name)));
    hash.add(static_cast<std::uint64_t>(values.scalar_type()));
    hash.add(std::as_bytes(std::span(values.sizes())));
    hash.add({static_cast<const std::byte*>(values.const_data_ptr()), values.nbytes()});
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash.value()));
  return text.data();
}

}  // namespace falcon::train
