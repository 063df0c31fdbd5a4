// The rules between the keys of a spec: what cannot go together, and what has no effect. Private to
// the sources that check a spec.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "falconbench/catalog.h"
#include "falconbench/errors.h"
#include "falconbench/run_spec.h"

namespace falcon::spec {

class Rules {
 public:
  Rules(const RunSpec& spec, const base::Value& tree, std::vector<Fault>& faults)
      : spec_(spec), tree_(tree), reading_faults_(faults), faults_(faults) {}

  void check();

 private:
  // Given, not null or "" (which mean "not given"), and read without a fault.
  bool given(const std::string& key) const {
    const base::Value* value = tree_.find_path(key);
    if (value == nullptr || value->is_null() || !sound(key)) return false;
    return !value->is_text() || !value->as_text().empty();
  }
  bool sound(const std::string& key) const {
    return std::none_of(reading_faults_.begin(), reading_faults_.end(), [&](const Fault& fault) {
      return fault.key == key || fault.key.starts_with(key + ".") ||
             key.starts_with(fault.key + ".");
    });
  }
  void fault(const std::string& key, const std::string& message) {
    const base::Value* value = tree_.find_path(key);
    const base::Mark mark = value == nullptr ? tree_.mark : value->mark;
    faults_.push_back({mark.source, mark.line, mark.column, key, message});
  }

  void check_taken(const std::string& group, std::string_view chooser, const WordFacts& facts,
                   const std::string& choice);
  void check_name();
  void check_data();
  void check_made_data();
  void check_evaluation();
  void check_evaluated_data(const ModelFacts& model, const TaskFacts& task);
  void check_checkpoint();
  void check_model();
  void check_input(const ModelFacts& model);
  void check_encoder(const ModelFacts& model);
  void check_schedule();
  void check_optimizer();
  void check_engine();
  void check_strategy();
  void check_devices();
  void check_cpu();
  void check_batch();
  void check_telemetry();
  void check_time();
  std::optional<std::int64_t> num_devices() const;

  const RunSpec& spec_;
  const base::Value& tree_;
  const std::vector<Fault> reading_faults_;
  std::vector<Fault>& faults_;
};

}  // namespace falcon::spec
