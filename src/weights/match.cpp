#include "weights/match.h"

#include <map>
#include <string_view>

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::weights {
namespace {

std::string with_new_ending(std::string_view name) {
  struct Ending {
    std::string_view old_one, new_one;
  };
  for (const Ending& ending : {Ending{"LayerNorm.gamma", "LayerNorm.weight"},
                               Ending{"LayerNorm.beta", "LayerNorm.bias"}}) {
    if (!name.ends_with(ending.old_one)) continue;
    name.remove_suffix(ending.old_one.size());
    return std::string(name) + std::string(ending.new_one);
  }
  return std::string(name);
}

/// What a name of the file may be called in the model, the likeliest first.
std::vector<std::string> candidates(const std::string& name) {
  constexpr std::string_view kWrapper = "module.";
  std::string_view bare = name;
  if (bare.starts_with(kWrapper)) bare.remove_prefix(kWrapper.size());
  const std::string renamed = with_new_ending(bare);
  return {name, std::string(bare), renamed, "bert." + renamed};
}

bool is_count(DType type) {
  return type == DType::kI64;
}

class Matcher {
 public:
  Matcher(const SafetensorsFile& file, const std::vector<TensorInfo>& wanted)
      : file_(file), wanted_(wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i) places_[wanted[i].name] = i;
  }

  Match match() {
    out_.sources.resize(wanted_.size());
    for (std::size_t i = 0; i < file_.tensors().size(); ++i) take(i);
    std::size_t found = 0;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (out_.sources[i])
        ++found;
      else
        out_.missing.push_back(wanted_[i].name);
    }
    if (!faults_.empty()) throw InputError(std::move(faults_));
    if (found == 0) refuse_all();
    return std::move(out_);
  }

 private:
  void fault(const TensorInfo& tensor, const std::string& message) {
    faults_.push_back({.source = file_.path(), .key = tensor.name, .message = message});
  }

  void take(std::size_t source) {
    const TensorInfo& tensor = file_.tensors()[source];
    for (const std::string& name : candidates(tensor.name)) {
      const auto place = places_.find(name);
      if (place == places_.end()) continue;
      return take_as(source, place->second);
    }
    out_.unused.push_back(tensor.name);
  }

  void take_as(std::size_t source, std::size_t place) {
    const TensorInfo& tensor = file_.tensors()[source];
    const TensorInfo& wanted = wanted_[place];
    std::optional<std::size_t>& known = out_.sources[place];
    if (known) {
      fault(tensor, "means " + wanted.name + " of the model, which the file also has as " +
                        base::printable(file_.tensors()[*known].name, 200));
    } else if (tensor.shape != wanted.shape) {
      fault(tensor, "has shape " + shape_text(tensor.shape) + ", the model's is " +
                        shape_text(wanted.shape));
    } else if (is_count(tensor.type) != is_count(wanted.type)) {
      fault(tensor, "has type " + std::string(name_of(tensor.type)) + ", the model's is " +
                        (is_count(wanted.type) ? "I64" : "F32, F16 or BF16"));
    }
    known = source;
  }

  [[noreturn]] void refuse_all() const {
    const std::string theirs = file_.tensors().empty()
                                   ? "it is empty"
                                   : "it has " + base::printable(file_.tensors()[0].name, 200);
    const std::string ours = wanted_.empty() ? "" : ", the model " + wanted_[0].name;
    throw Error(ExitCode::kUsage, base::printable(file_.path(), 400) +
                                      ": holds no tensor of the model: " + theirs + ours);
  }

  const SafetensorsFile& file_;
  const std::vector<TensorInfo>& wanted_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::vector<Fault> faults_;
  Match out_;
};

}  // namespace

Match match(const SafetensorsFile& file, const std::vector<TensorInfo>& wanted) {
  return Matcher(file, wanted).match();
}

}  // namespace falcon::weights
