#include "spec/validate.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/codec.h"
#include "base/text.h"
#include "falconbench/catalog.h"
#include "spec/make_options.h"
#include "spec/paths.h"

namespace falcon::spec {
namespace {

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
  void check_time();
  std::optional<std::int64_t> num_devices() const;

  const RunSpec& spec_;
  const base::Value& tree_;
  const std::vector<Fault> reading_faults_;
  std::vector<Fault>& faults_;
};

void Rules::check() {
  check_name();
  check_data();
  check_made_data();
  check_evaluation();
  check_checkpoint();
  check_model();
  check_schedule();
  check_optimizer();
  check_engine();
  check_devices();
  check_cpu();
  check_batch();
  check_time();
}

// Faults what is given beside `chooser` in the map `group` and has no effect with that choice.
void Rules::check_taken(const std::string& group, std::string_view chooser, const WordFacts& facts,
                        const std::string& choice) {
  const base::Value* map = tree_.find(group);
  if (map == nullptr || !map->is_object()) return;
  for (const base::Value::Member& member : map->as_object()) {
    const std::string key = group + "." + member.name;
    if (member.name == chooser || !given(key) || catalog::takes(facts, member.name)) continue;
    fault(key, "has no effect: " + choice + ", which takes " + base::join(facts.options, ", "));
  }
}

void Rules::check_name() {
  if (!given("name")) return;
  const bool has_control = std::any_of(spec_.name.begin(), spec_.name.end(),
                                       [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (has_control || spec_.name.find('/') != std::string::npos || spec_.name.size() > 200) {
    fault("name",
          "becomes a part of file names: at most 200 bytes without / and control "
          "characters, got \"" +
              base::printable(spec_.name) + "\"");
  }
}

void Rules::check_data() {
  const DatasetFacts* format =
      sound("data.format") ? catalog::find_dataset(spec_.data.format) : nullptr;
  if (format == nullptr) return;
  const std::string choice =
      (given("data.format") ? "data.format is " : "data.format defaults to ") + format->name;
  check_taken("data", "format", *format, choice);
  if (catalog::takes(*format, "path")) {
    if (!given("data.path") && sound("data.path"))
      fault("data", "data.path is required: " + choice);
  } else {
    if (given("storage") && !names_a_file(spec_)) {
      fault("storage", "has no effect: " + choice + ", which reads no file");
    }
    if (given("data.loader.io") && spec_.data.loader.io != kBufferedIo) {
      fault("data.loader.io", "has no effect: " + choice + ", which reads no file");
    }
  }
  if (given("data.cache") && spec_.data.cache == kWarmCache && spec_.data.loader.io == kDirectIo) {
    fault("data.cache",
          "warm has no effect: data.loader.io is direct, which passes the page cache");
  }
}

void Rules::check_made_data() {
  if (!given("data.make") || !spec_.data.make) return;
  const DatasetFacts* format = catalog::find_dataset(spec_.data.format);
  if (format == nullptr || !catalog::takes(*format, "make")) return;
  for (const std::string& name : make_options_without_effect(*spec_.data.make, *format)) {
    fault("data.make." + name, "has no effect: data.format is " + format->name +
                                   ", whose files are made by " +
                                   base::join(make_options(*format), ", "));
  }
  const std::optional<std::int64_t> classes = filled_make(*spec_.data.make, *format).classes;
  if (!classes) return;
  if (spec_.data.make->train < *classes) {
    fault("data.make", "data.make.train (" + std::to_string(spec_.data.make->train) +
                           ") must be at least data.make.classes (" + std::to_string(*classes) +
                           "): one sample a class");
  }
  if (given("model_options.classes") && *spec_.model_options.classes < *classes) {
    fault("model_options.classes", "must be at least data.make.classes (" +
                                       std::to_string(*classes) + "), got " +
                                       std::to_string(*spec_.model_options.classes));
  }
}

void Rules::check_evaluation() {
  if (!spec_.evaluate) {
    if (given("data.val")) {
      fault("data.val", "has no effect without evaluate: true");
    }
    return;
  }
  if (given("data.make") && spec_.data.make && spec_.data.make->val == 0) {
    fault("data.make", "data.make.val must be at least 1: evaluate needs validation samples");
  }
  const ModelFacts* model = sound("model") ? catalog::find_model(spec_.model) : nullptr;
  if (model == nullptr) return;
  if (const TaskFacts* task = catalog::find_evaluated_task(model->task)) {
    return check_evaluated_data(*model, *task);
  }
  std::vector<std::string> tasks;
  for (const WordFacts& task : catalog::evaluated_tasks()) tasks.push_back(task.name);
  fault("evaluate", "model " + model->name + " does " + model->task +
                        ", which evaluate does not measure; it measures " + base::join_or(tasks));
}

void Rules::check_evaluated_data(const ModelFacts& model, const TaskFacts& task) {
  const auto lacks = [&](const std::string& format) {
    return std::find(task.not_on.begin(), task.not_on.end(), format) != task.not_on.end();
  };
  if (!sound("data.format") || !lacks(spec_.data.format)) return;
  std::vector<std::string> formats = model.datasets;
  std::erase_if(formats, lacks);
  fault("evaluate", std::string("data.format ") + (given("data.format") ? "is " : "defaults to ") +
                        spec_.data.format + ", on which " + task.name + " is not measured (" +
                        task.title + "); accepted: data.format " + base::join_or(formats) +
                        ", whose files data.make makes");
}

void Rules::check_checkpoint() {
  if (given("checkpoint.every") && !given("checkpoint.path")) {
    fault("checkpoint.every", "has no effect without checkpoint.path");
  }
  if (given("checkpoint.resume") && given("init") && spec_.init != kRandomInit) {
    fault("init", "has no effect: the weights come from checkpoint.resume");
  }
}

void Rules::check_model() {
  if (given("image_size") && *spec_.image_size % 32 != 0) {
    const std::int64_t below = std::max<std::int64_t>(32, *spec_.image_size / 32 * 32);
    fault("image_size", "must be divisible by 32, got " + std::to_string(*spec_.image_size) +
                            "; near it: " + std::to_string(below) + " or " +
                            std::to_string(*spec_.image_size / 32 * 32 + 32));
  }
  const ModelFacts* model = sound("model") ? catalog::find_model(spec_.model) : nullptr;
  if (model == nullptr) return;
  check_input(*model);
  check_encoder(*model);
  const auto is_among = [](const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (given("model_options")) {
    for (const base::Value::Member& option : tree_.find("model_options")->as_object()) {
      const std::string key = "model_options." + option.name;
      if (!given(key) || is_among(model->options, option.name)) continue;
      fault(key, "model " + model->name + " has no such option; it has " +
                     base::join(model->options, ", "));
    }
  }
  if (sound("data.format") && !is_among(model->datasets, spec_.data.format)) {
    fault("data.format", spec_.data.format + " does not suit model " + model->name +
                             ", which trains on " + base::join_or(model->datasets));
  }
}

// Keys of pictures with a model of tokens, and the other way round.
void Rules::check_input(const ModelFacts& model) {
  const bool takes_pictures = model.image_size > 0;
  const char* const keys[] = {"image_size", "engine.channels_last", "sequence_length"};
  for (const std::string key : keys) {
    const bool is_of_pictures = key != "sequence_length";
    if (!given(key) || is_of_pictures == takes_pictures) continue;
    fault(key, "has no effect: model " + model.name + " trains on " +
                   (takes_pictures ? "pictures" : "tokens"));
  }
  if (!takes_pictures && given("engine.cudnn_benchmark") && spec_.engine.cudnn_benchmark) {
    fault("engine.cudnn_benchmark",
          "true has no effect: model " + model.name + " has no convolutions");
  }
}

void Rules::check_encoder(const ModelFacts& model) {
  const std::string keys[] = {"model_options.hidden_size", "model_options.heads"};
  if (model.encoder.layers == 0 || (!given(keys[0]) && !given(keys[1]))) return;
  const EncoderSize size = catalog::sized(model, spec_).encoder;
  if (!sound(keys[0]) || !sound(keys[1]) || size.hidden_size % size.heads == 0) return;
  fault(given(keys[0]) ? keys[0] : keys[1],
        "model_options.hidden_size (" + std::to_string(size.hidden_size) +
            ") must be divisible by model_options.heads (" + std::to_string(size.heads) + ")");
}

void Rules::check_schedule() {
  const ModelFacts* model = catalog::find_model(spec_.model);
  const bool is_given = given("schedule.kind");
  if (!is_given && (model == nullptr || !sound("schedule.kind"))) return;
  const WordFacts* kind = catalog::find_word(
      catalog::schedules(), is_given ? *spec_.schedule.kind : *model->schedule.kind);
  if (kind == nullptr) return;
  check_taken("schedule", "kind", *kind,
              (is_given ? "schedule.kind is " : "schedule.kind defaults to ") + kind->name);
  if (given("schedule.warmup_start") && tree_.find_path("schedule.warmup_epochs") == nullptr) {
    fault("schedule.warmup_start", "has no effect without schedule.warmup_epochs");
  }
  if (given("schedule.steps") && given("schedule.epochs")) {
    fault("schedule.steps", "and schedule.epochs both say how long the schedule is; give one");
  }
  if (given("schedule.warmup_steps") && given("schedule.warmup_ratio")) {
    fault("schedule.warmup_steps",
          "and schedule.warmup_ratio both say how long the warm-up is; give one");
  }
  if (given("schedule.steps") && given("schedule.warmup_steps") &&
      *spec_.schedule.warmup_steps > *spec_.schedule.steps) {
    fault("schedule.warmup_steps", "is " + std::to_string(*spec_.schedule.warmup_steps) +
                                       ", more than schedule.steps (" +
                                       std::to_string(*spec_.schedule.steps) + ")");
  }
}

void Rules::check_optimizer() {
  const ModelFacts* model = catalog::find_model(spec_.model);
  const bool is_given = given("optimizer.kind");
  if (!is_given && (model == nullptr || !sound("optimizer.kind"))) return;
  const WordFacts* kind = catalog::find_word(
      catalog::optimizers(), is_given ? *spec_.optimizer.kind : *model->optimizer.kind);
  if (kind == nullptr) return;
  check_taken("optimizer", "kind", *kind,
              (is_given ? "optimizer.kind is " : "optimizer.kind defaults to ") + kind->name);
  if (given("optimizer.nesterov") && *spec_.optimizer.nesterov && given("optimizer.momentum") &&
      *spec_.optimizer.momentum == 0) {
    fault("optimizer.nesterov", "needs momentum, but optimizer.momentum is 0");
  }
}

void Rules::check_strategy() {
  const std::string kind = given("parallelism") ? spec_.parallelism.kind : "";
  const EngineSpec& engine = spec_.engine;
  if (kind == "sharded" && engine.allreduce == "off") {
    fault("engine.allreduce",
          "off leaves sharded without the parameters of other ranks; accepted there: on");
  }
  if (kind != "dp") return;
  if (engine.graphs == "on") {
    fault("engine.graphs",
          "on cannot be with parallelism dp, whose step spans devices and threads; accepted there: "
          "auto or off");
  }
  if (engine.gradient_dtype != EngineSpec().gradient_dtype) {
    fault("engine.gradient_dtype",
          "has no effect: parallelism dp copies gradients as they are; accepted there: fp32");
  }
  if (engine.allreduce == "off") {
    fault("engine.allreduce", "has no effect: parallelism dp has one rank; accepted there: on");
  }
}

void Rules::check_engine() {
  if (spec_.engine.deterministic && spec_.engine.cudnn_benchmark) {
    fault("engine.cudnn_benchmark",
          "true chooses algorithms by time, but engine.deterministic is true");
  }
  const bool exchanges = !given("parallelism") || spec_.parallelism.kind != "none";
  if (!exchanges && spec_.engine.gradient_dtype != EngineSpec().gradient_dtype) {
    fault("engine.gradient_dtype", "has no effect: with parallelism none nothing is exchanged");
  }
  if (!exchanges && spec_.engine.allreduce == "off") {
    fault("engine.allreduce", "has no effect: with parallelism none nothing is exchanged");
  }
  check_strategy();
  if (spec_.engine.graphs == "on" && spec_.warmup_steps < kGraphWarmupSteps) {
    fault("engine.graphs",
          "on needs " + std::to_string(kGraphWarmupSteps) + " warm-up steps, but warmup_steps is " +
              std::to_string(spec_.warmup_steps) + "; accepted with fewer: auto or off");
  }
}

// Where the spec alone says how many there are.
std::optional<std::int64_t> Rules::num_devices() const {
  if (given("devices")) return spec_.devices;
  if (given("topology") && !spec_.topology.items.empty()) {
    return static_cast<std::int64_t>(spec_.topology.items.size());
  }
  if (given("topology") && spec_.topology.name == "cpu") return 2;
  return {};
}

void Rules::check_devices() {
  const std::optional<std::int64_t> known = num_devices();
  if (given("parallelism") && spec_.parallelism.kind == "sharded" && known == 1) {
    fault("parallelism", "sharded divides among devices, but there is one; accepted: none");
  }
  const std::int64_t devices = known.value_or(1);
  if (!given("parallelism") || spec_.parallelism.kind != "none" || devices < 2) return;
  fault("parallelism", "none works on one device, but " +
                           std::string(given("devices") ? "devices is " : "topology has ") +
                           std::to_string(devices) +
                           "; accepted: ddp, sharded or dp, or devices: 1");
}

void Rules::check_cpu() {
  if (!given("topology") || spec_.topology.name != "cpu") return;
  const PrecisionFacts* precision =
      given("precision") ? catalog::find_precision(*spec_.precision) : nullptr;
  if (precision != nullptr && !precision->on_cpu) {
    std::vector<std::string> accepted;
    for (const PrecisionFacts& facts : catalog::precisions()) {
      if (facts.on_cpu) accepted.push_back(facts.name);
    }
    fault("precision", precision->name + " needs a GPU, but topology is cpu; accepted there: " +
                           base::join_or(accepted));
  }
  if (given("engine.graphs") && spec_.engine.graphs == "on") {
    fault("engine.graphs", "on needs a GPU, but topology is cpu; accepted there: auto or off");
  }
  if (given("engine.fused") && spec_.engine.fused == "on") {
    fault("engine.fused", "on needs a GPU, but topology is cpu; accepted there: auto or off");
  }
  if (given("engine.cudnn_benchmark") && spec_.engine.cudnn_benchmark) {
    fault("engine.cudnn_benchmark", "true needs a GPU, but topology is cpu");
  }
  if (given("engine.memory_limit_gb")) {
    fault("engine.memory_limit_gb", "has no effect: it caps GPU memory, but topology is cpu");
  }
}

void Rules::check_batch() {
  const std::optional<std::int64_t> devices = num_devices();
  const bool has_global = given("batch_size.global");
  const std::int64_t parts = devices.value_or(1) * spec_.accumulate;
  if (has_global && *spec_.batch_size.global % parts != 0) {
    std::string of;
    if (devices) of = "devices (" + std::to_string(*devices) + ")";
    if (spec_.accumulate > 1) {
      of += (of.empty() ? "" : " x ") + ("accumulate (" + std::to_string(spec_.accumulate) + ")");
    }
    fault("batch_size.global",
          std::to_string(*spec_.batch_size.global) + " does not divide by " + of);
  }
  std::int64_t batch = 0;
  if (has_global) batch = *spec_.batch_size.global;
  if (given("batch_size.per_gpu")) batch = *spec_.batch_size.per_gpu * parts;
  const std::string key = has_global ? "batch_size.global" : "batch_size.per_gpu";
  const auto check_against = [&](const std::string& other, std::int64_t samples) {
    if (batch <= samples) return;
    fault(key, "one step takes " + std::to_string(batch) + " samples, but " + other + " is " +
                   std::to_string(samples) + ": not one whole batch in an epoch");
  };
  if (given("data.samples")) check_against("data.samples", *spec_.data.samples);
  if (given("data.make") && spec_.data.make) {
    check_against("data.make.train", spec_.data.make->train);
  }
}

void Rules::check_time() {
  if (given("timeout_s") && given("budget.seconds") && *spec_.timeout_s <= *spec_.budget.seconds) {
    fault("timeout_s", base::number_text(*spec_.timeout_s) +
                           " s ends the run before budget.seconds (" +
                           base::number_text(*spec_.budget.seconds) + " s) is over");
  }
}

}  // namespace

void validate(const RunSpec& spec, const base::Value& tree, std::vector<Fault>& faults) {
  Rules(spec, tree, faults).check();
}

}  // namespace falcon::spec
