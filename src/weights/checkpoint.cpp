#include "weights/checkpoint.h"

#include <charconv>

#include "base/text.h"
#include "falconbench/errors.h"

namespace falcon::weights {
namespace {

// Raised when a later version would misread what is written.
constexpr const char* kKind = "checkpoint 1";

/// Calls visit(name, member) for every field.
template <class Facts, class Visit>
void visit_members(Facts& facts, Visit&& visit) {
  visit("model", facts.model);
  visit("optimizer", facts.optimizer);
  visit("seed", facts.seed);
  visit("samples", facts.samples);
  visit("global_batch", facts.global_batch);
  visit("step", facts.step);
  visit("updates", facts.updates);
}

class FactReader {
 public:
  explicit FactReader(const SafetensorsFile& file) : file_(file) {}

  void operator()(const char* name, std::string& out) const {
    const auto found = file_.metadata().find(name);
    if (found == file_.metadata().end()) refuse("its __metadata__ has no " + std::string(name));
    out = found->second;
  }
  void operator()(const char* name, std::int64_t& out) const {
    std::string text;
    (*this)(name, text);
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, out);
    if (read.ec != std::errc() || read.ptr != end || out < 0) {
      refuse("its " + std::string(name) + " is \"" + base::printable(text) +
             "\", expected a whole number");
    }
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ExitCode::kUsage,
                base::printable(file_.path(), 400) + ": is no checkpoint to go on from: " + why);
  }

 private:
  const SafetensorsFile& file_;
};

struct FactWriter {
  std::map<std::string, std::string>& out;
  void operator()(const char* name, const std::string& text) const { out[name] = text; }
  void operator()(const char* name, std::int64_t number) const {
    out[name] = std::to_string(number);
  }
};

}  // namespace

std::map<std::string, std::string> to_metadata(const CheckpointFacts& facts) {
  // the first: readers of other programs want it
  std::map<std::string, std::string> metadata = {{"format", "pt"}, {"falconbench", kKind}};
  visit_members(facts, FactWriter{metadata});
  return metadata;
}

CheckpointFacts checkpoint_facts(const SafetensorsFile& file) {
  const FactReader read(file);
  std::string kind;
  read("falconbench", kind);
  if (kind != kKind) read.refuse("it is \"" + base::printable(kind) + "\", not " + kKind);
  CheckpointFacts facts;
  visit_members(facts, read);
  return facts;
}

}  // namespace falcon::weights
