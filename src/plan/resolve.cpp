#include "plan/resolve.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/codec.h"
#include "falconbench/catalog.h"
#include "spec/make_options.h"

namespace falcon::plan {
namespace {

// Sets what is not given, and remembers why.
class Defaults {
 public:
  explicit Defaults(std::map<std::string, std::string>& origin) : origin_(origin) {}

  template <class T, class U>
  void fill(const std::string& key, std::optional<T>& member, const U& value,
            const std::string& why) {
    if (member.has_value()) return;
    member = value;
    note(key, why);
  }
  template <class T>
  void fill_from(const std::string& key, std::optional<T>& member, const std::optional<T>& value,
                 const std::string& why) {
    if (value.has_value()) fill(key, member, *value, why);
  }
  void note(const std::string& key, const std::string& why) { origin_[key] = why; }

 private:
  std::map<std::string, std::string>& origin_;
};

// A recipe holds together: another schedule kind than the recipe's takes nothing of it but what it
// needs.
void fill_schedule(Defaults& defaults, ScheduleSpec& schedule, const ScheduleSpec& recipe,
                   const std::string& why) {
  defaults.fill_from("schedule.kind", schedule.kind, recipe.kind, why);
  const std::string own = "default of the schedule " + *schedule.kind;
  if (schedule.kind == recipe.kind) {
    defaults.fill_from("schedule.epochs", schedule.epochs, recipe.epochs, why);
    defaults.fill_from("schedule.step_epochs", schedule.step_epochs, recipe.step_epochs, why);
    defaults.fill_from("schedule.gamma", schedule.gamma, recipe.gamma, why);
    defaults.fill_from("schedule.end_lr", schedule.end_lr, recipe.end_lr, why);
  }
  const auto takes = [&](const char* key) {
    const std::vector<std::string>& options =
        catalog::find_word(catalog::schedules(), *schedule.kind)->options;
    return std::find(options.begin(), options.end(), key) != options.end();
  };
  if (takes("step_epochs")) defaults.fill("schedule.step_epochs", schedule.step_epochs, 30, own);
  if (takes("gamma")) defaults.fill("schedule.gamma", schedule.gamma, 0.1, own);
  if (takes("epochs")) defaults.fill("schedule.epochs", schedule.epochs, 90, own);
  if (takes("end_lr")) defaults.fill("schedule.end_lr", schedule.end_lr, 0.0, own);
  defaults.fill("schedule.warmup_epochs", schedule.warmup_epochs, recipe.warmup_epochs.value_or(0),
                why);
  defaults.fill("schedule.warmup_start", schedule.warmup_start, recipe.warmup_start.value_or(0.01),
                why);
}

void fill_optimizer(Defaults& defaults, OptimizerSpec& optimizer, const OptimizerSpec& recipe,
                    const std::string& why) {
  defaults.fill_from("optimizer.kind", optimizer.kind, recipe.kind, why);
  defaults.fill_from("optimizer.lr", optimizer.lr, recipe.lr, why);
  defaults.fill_from("optimizer.momentum", optimizer.momentum, recipe.momentum, why);
  defaults.fill_from("optimizer.weight_decay", optimizer.weight_decay, recipe.weight_decay, why);
  defaults.fill_from("optimizer.nesterov", optimizer.nesterov, recipe.nesterov, why);
  defaults.fill_from("optimizer.clip_norm", optimizer.clip_norm, recipe.clip_norm, why);
}

void fill_model(Defaults& defaults, RunSpec& spec, const ModelFacts& model) {
  const std::string why = "default of the model " + model.name;
  defaults.fill("image_size", spec.image_size, model.image_size, why);
  if (!spec.batch_size.global) {
    defaults.fill("batch_size.per_gpu", spec.batch_size.per_gpu, model.batch_per_gpu, why);
  }
  fill_optimizer(defaults, spec.optimizer, model.optimizer, why);
  fill_schedule(defaults, spec.schedule, model.schedule, why);
}

void fill_made_data(Defaults& defaults, std::optional<MakeSpec>& make, const DatasetFacts& format) {
  if (!make) return;
  const base::Value given = base::to_value(*make);
  make = spec::filled_make(*make, format);
  const base::Value filled = base::to_value(*make);
  for (const base::Value::Member& field : filled.as_object()) {
    if (given.find(field.name) != nullptr) continue;
    defaults.note("data.make." + field.name, "default of the format " + format.name);
  }
}

void fill_data(Defaults& defaults, DataSpec& data, const DatasetFacts& format) {
  const std::string why = "default of the format " + format.name;
  const auto takes = [&format](const char* key) {
    return std::ranges::find(format.options, key) != format.options.end();
  };
  if (takes("annotations")) {
    defaults.fill("data.annotations", data.annotations,
                  "annotations/instances_" + data.train + ".json", why);
  }
  if (takes("augment")) defaults.fill("data.augment", data.augment, "mosaic", why);
  fill_made_data(defaults, data.make, format);
}

std::string absolute(const std::string& path, const std::string& folder) {
  if (path.empty()) return path;
  return std::filesystem::absolute(std::filesystem::path(folder) / path)
      .lexically_normal()
      .string();
}

// Every leaf of the resolved spec has an origin: what is not explained yet is a plain default.
void explain_rest(const base::Value& value, const std::string& key,
                  std::map<std::string, std::string>& origin) {
  if (value.is_object()) {
    for (const base::Value::Member& member : value.as_object()) {
      explain_rest(member.value, base::join_key(key, member.name), origin);
    }
  } else if (!key.empty()) {
    origin.try_emplace(key, "default");
  }
}

}  // namespace

NameOrList resolved_topology(const RunSpec& given, const Host& host) {
  if (!given.topology.name.empty() || !given.topology.items.empty()) return given.topology;
  return NameOrList{host.gpus.empty() ? "cpu" : "all", {}};
}

ResolvedSpec resolve(const RunSpec& given, const std::map<std::string, std::string>& origin,
                     const std::string& folder, int num_devices, bool on_gpu) {
  ResolvedSpec out{given, origin};
  RunSpec& spec = out.spec;
  Defaults defaults(out.origin);
  if (spec.topology.name.empty() && spec.topology.items.empty()) {
    spec.topology.name = on_gpu ? "all" : "cpu";
    defaults.note("topology", on_gpu ? "host: it has GPUs" : "host: it has no GPU");
  }
  defaults.fill("devices", spec.devices, num_devices, "all of the topology");
  defaults.fill("precision", spec.precision, on_gpu ? "fp16" : "fp32",
                on_gpu ? "default on a GPU" : "default on the CPU");
  if (spec.parallelism.kind.empty()) {
    spec.parallelism.kind = num_devices > 1 ? "ddp" : "none";
    defaults.note("parallelism",
                  num_devices > 1 ? "default for several devices" : "default for one device");
  }
  if (!spec.budget.epochs && !spec.budget.steps && !spec.budget.seconds) {
    defaults.fill("budget.steps", spec.budget.steps, 100, "default");
  }
  defaults.fill("engine.channels_last", spec.engine.channels_last, true, "default of image models");
  fill_model(defaults, spec, *catalog::find_model(spec.model));
  fill_data(defaults, spec.data, *catalog::find_dataset(spec.data.format));
  if (spec.storage.empty()) spec.data.path = absolute(spec.data.path, folder);
  spec.system = absolute(spec.system, folder);
  explain_rest(base::to_value(spec), "", out.origin);
  return out;
}

}  // namespace falcon::plan
