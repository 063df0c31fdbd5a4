// A rank that has the whole model and updates all of it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <falconbench/strategy.h>

namespace falcon::parallel {

/// Begins with rank 0's state. With a 16-bit type, product weights are held in it, in one buffer,
/// the matrices one after another and then the vectors, and their float32 masters are updated:
/// autocast would round the same values in every step. Their gradients come in 16 bit; so that they
/// are not added up in it, there is none of this with several micro-batches.
class Undivided : public Strategy {
 public:
  explicit Undivided(const StrategyContext& context);

  std::vector<Slice> slices() const override;
  void gather_model() override;
  void resume() override;
  HeldBytes held() const override;
  std::map<std::string, std::string> choices() const override;

 protected:
  bool has_masters() const { return !masters_.empty(); }

 private:
  /// A parameter in both types.
  struct Master {
    std::size_t parameter = 0;  // in model.parameters()
    at::Tensor wide, narrow;
  };
  void make_masters(at::ScalarType narrow_type);

  std::vector<NamedTensor> parameters_;
  std::vector<Master> masters_;
};

}  // namespace falcon::parallel
