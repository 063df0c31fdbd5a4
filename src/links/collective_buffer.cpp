#include "links/collective_buffer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include <falconbench/errors.h>

namespace falcon::links {
namespace {

// Contents repeat after so many elements: a prime, so that a block of any usual size that lands in
// a wrong place is noticed.
constexpr std::int64_t kPeriod = 8191;
constexpr std::int64_t kValues = 16;

class Buffer : public CollectiveBuffer {
 public:
  Buffer(comm::ProcessGroup& group, std::int64_t bytes, at::ScalarType type)
      : group_(group),
        whole_(at::empty({elements(group, bytes, type)},
                         at::TensorOptions(type).device(group.device()))) {}
  std::int64_t bytes() const final { return static_cast<std::int64_t>(whole_.nbytes()); }

 protected:
  static std::int64_t elements(const comm::ProcessGroup& group, std::int64_t bytes,
                               at::ScalarType type) {
    const std::int64_t of_a_rank =
        bytes / static_cast<std::int64_t>(at::elementSize(type)) / group.world();
    return std::max<std::int64_t>(1, of_a_rank) * group.world();
  }
  std::int64_t part_elements() const { return whole_.numel() / group_.world(); }
  at::Tensor part_of_whole(std::int64_t rank) const {
    return whole_.narrow(0, rank * part_elements(), part_elements());
  }
  at::Tensor new_part() const { return at::empty({part_elements()}, whole_.options()); }

  /// What `rank` puts into part number `part`: one period of it.
  at::Tensor values(std::int64_t rank, std::int64_t part, std::int64_t seed) const {
    const at::Tensor places = at::arange(kPeriod, at::TensorOptions(at::kLong));
    return (places * 7 + rank * 3 + part * 5 + seed).remainder(kValues).add(1).to(at::kDouble);
  }
  at::Tensor sum_of_values(std::int64_t part, std::int64_t seed) const {
    at::Tensor sum = values(0, part, seed);
    for (std::int64_t rank = 1; rank < group_.world(); ++rank) {
      sum = sum + values(rank, part, seed);
    }
    return sum;
  }
  static void write(const at::Tensor& tensor, const at::Tensor& period) {
    const at::Tensor source = period.to(tensor.options());
    const std::int64_t full = tensor.numel() / kPeriod;
    const std::int64_t rest = tensor.numel() - full * kPeriod;
    if (full > 0) {
      tensor.narrow(0, 0, full * kPeriod).view({full, kPeriod}).copy_(source);
    }
    if (rest > 0) tensor.narrow(0, full * kPeriod, rest).copy_(source.narrow(0, 0, rest));
  }
  /// tolerance: relative. 0: exactly these.
  static bool holds(const at::Tensor& tensor, const at::Tensor& period, double tolerance) {
    const at::Tensor wanted = period.to(tensor.options());
    const auto is_near = [&](const at::Tensor& part, const at::Tensor& of) {
      if (tolerance == 0) return (part == of).all();
      return ((part - of).abs() <= of.abs() * tolerance).all();
    };
    const std::int64_t full = tensor.numel() / kPeriod;
    const std::int64_t rest = tensor.numel() - full * kPeriod;
    bool is_right = true;
    if (full > 0) {
      is_right =
          is_near(tensor.narrow(0, 0, full * kPeriod).view({full, kPeriod}), wanted).item<bool>();
    }
    if (rest > 0) {
      is_right =
          is_right &&
          is_near(tensor.narrow(0, full * kPeriod, rest), wanted.narrow(0, 0, rest)).item<bool>();
    }
    return is_right;
  }
  /// Additions of a sum that is not exact in the element type may round each.
  double tolerance_of(std::int64_t calls) const {
    const std::int64_t world = group_.world();
    const bool is_exact = (world & (world - 1)) == 0 && world <= kValues;
    if (is_exact || (calls == 1 && world <= kValues)) return 0;
    const double step = whole_.scalar_type() == at::kBFloat16 ? std::ldexp(1, -8) : 1e-6;
    return std::min(0.25, step * static_cast<double>(calls * world));
  }

  comm::ProcessGroup& group_;
  at::Tensor whole_;
};

/// In place: each call multiplies what the first one gave by the number of ranks.
class AllReduce : public Buffer {
 public:
  using Buffer::Buffer;
  void fill(std::int64_t seed) final { write(whole_, values(group_.rank(), 0, seed)); }
  void call() final { group_.all_reduce(whole_, comm::Reduction::kSum); }
  bool is_right(std::int64_t seed, std::int64_t calls) const final {
    const double growth =
        std::pow(static_cast<double>(group_.world()), static_cast<double>(calls - 1));
    return holds(whole_, sum_of_values(0, seed) * growth, tolerance_of(calls));
  }
};

class AllGather : public Buffer {
 public:
  AllGather(comm::ProcessGroup& group, std::int64_t bytes, at::ScalarType type)
      : Buffer(group, bytes, type), part_(new_part()) {}
  void fill(std::int64_t seed) final {
    whole_.zero_();
    write(part_, values(group_.rank(), 0, seed));
  }
  void call() final { group_.all_gather(whole_, part_); }
  bool is_right(std::int64_t seed, std::int64_t) const final {
    for (int rank = 0; rank < group_.world(); ++rank) {
      if (!holds(part_of_whole(rank), values(rank, 0, seed), 0)) return false;
    }
    return true;
  }

 private:
  at::Tensor part_;
};

class ReduceScatter : public Buffer {
 public:
  ReduceScatter(comm::ProcessGroup& group, std::int64_t bytes, at::ScalarType type)
      : Buffer(group, bytes, type), part_(new_part()) {}
  void fill(std::int64_t seed) final {
    part_.zero_();
    for (int part = 0; part < group_.world(); ++part) {
      write(part_of_whole(part), values(group_.rank(), part, seed));
    }
  }
  void call() final { group_.reduce_scatter(part_, whole_, comm::Reduction::kSum); }
  bool is_right(std::int64_t seed, std::int64_t) const final {
    return holds(part_, sum_of_values(group_.rank(), seed), tolerance_of(1));
  }

 private:
  at::Tensor part_;
};

class Broadcast : public Buffer {
 public:
  using Buffer::Buffer;
  void fill(std::int64_t seed) final {
    whole_.zero_();
    if (group_.rank() == 0) write(whole_, values(0, 0, seed));
  }
  void call() final { group_.broadcast(whole_, 0); }
  bool is_right(std::int64_t seed, std::int64_t) const final {
    return holds(whole_, values(0, 0, seed), 0);
  }
};

template <class T>
std::unique_ptr<CollectiveBuffer> make(comm::ProcessGroup& group, std::int64_t bytes,
                                       at::ScalarType type) {
  return std::make_unique<T>(group, bytes, type);
}

struct Row {
  const char* operation;
  std::unique_ptr<CollectiveBuffer> (*make)(comm::ProcessGroup&, std::int64_t, at::ScalarType);
};
constexpr std::array kRows{
    Row{"all_reduce", make<AllReduce>},
    Row{"all_gather", make<AllGather>},
    Row{"reduce_scatter", make<ReduceScatter>},
    Row{"broadcast", make<Broadcast>},
};

}  // namespace

std::unique_ptr<CollectiveBuffer> make_collective_buffer(const std::string& operation,
                                                         comm::ProcessGroup& group,
                                                         std::int64_t whole_bytes,
                                                         at::ScalarType type) {
  for (const Row& row : kRows) {
    if (operation == row.operation) return row.make(group, whole_bytes, type);
  }
  throw Error(ExitCode::kUsage, "unknown collective: " + operation);
}

}  // namespace falcon::links
