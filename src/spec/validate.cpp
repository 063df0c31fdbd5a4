#include "spec/validate.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/codec.h"
#include "base/text.h"
#include "falconbench/catalog.h"
#include "spec/make_options.h"
#include "spec/paths.h"
#include "spec/rules.h"

namespace falcon::spec {

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
  check_telemetry();
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

void validate(const RunSpec& spec, const base::Value& tree, std::vector<Fault>& faults) {
  Rules(spec, tree, faults).check();
}

}  // namespace falcon::spec
