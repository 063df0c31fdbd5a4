#include "plan/resolve.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/codec.h"
#include "falconbench/catalog.h"
#include "spec/make_options.h"
#include "spec/paths.h"

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
  const bool has_length = schedule.steps.has_value();
  const bool has_warmup = schedule.warmup_steps.has_value();
  if (schedule.kind == recipe.kind) {
    if (!has_length) defaults.fill_from("schedule.epochs", schedule.epochs, recipe.epochs, why);
    defaults.fill_from("schedule.step_epochs", schedule.step_epochs, recipe.step_epochs, why);
    defaults.fill_from("schedule.gamma", schedule.gamma, recipe.gamma, why);
    defaults.fill_from("schedule.end_lr", schedule.end_lr, recipe.end_lr, why);
  }
  const auto is_taken = [&](const char* key) {
    return catalog::takes(*catalog::find_word(catalog::schedules(), *schedule.kind), key);
  };
  if (is_taken("step_epochs")) defaults.fill("schedule.step_epochs", schedule.step_epochs, 30, own);
  if (is_taken("gamma")) defaults.fill("schedule.gamma", schedule.gamma, 0.1, own);
  if (is_taken("epochs") && !has_length) {
    defaults.fill("schedule.epochs", schedule.epochs, recipe.epochs.value_or(90), own);
  }
  if (is_taken("end_lr")) defaults.fill("schedule.end_lr", schedule.end_lr, 0.0, own);
  if (is_taken("warmup_epochs")) {
    defaults.fill("schedule.warmup_epochs", schedule.warmup_epochs,
                  recipe.warmup_epochs.value_or(0), why);
  }
  if (is_taken("warmup_start")) {
    defaults.fill("schedule.warmup_start", schedule.warmup_start,
                  recipe.warmup_start.value_or(0.01), why);
  }
  if (is_taken("warmup_bias_lr")) {
    defaults.fill("schedule.warmup_bias_lr", schedule.warmup_bias_lr,
                  recipe.warmup_bias_lr.value_or(0.1), why);
    defaults.fill("schedule.warmup_momentum", schedule.warmup_momentum,
                  recipe.warmup_momentum.value_or(0.8), why);
  }
  if (is_taken("warmup_ratio") && !has_warmup) {
    defaults.fill("schedule.warmup_ratio", schedule.warmup_ratio, recipe.warmup_ratio.value_or(0),
                  why);
  }
}

// As for the schedule.
void fill_optimizer(Defaults& defaults, OptimizerSpec& optimizer, const OptimizerSpec& recipe,
                    const std::string& why) {
  defaults.fill_from("optimizer.kind", optimizer.kind, recipe.kind, why);
  if (optimizer.kind == recipe.kind) {
    defaults.fill_from("optimizer.lr", optimizer.lr, recipe.lr, why);
    defaults.fill_from("optimizer.momentum", optimizer.momentum, recipe.momentum, why);
    defaults.fill_from("optimizer.beta1", optimizer.beta1, recipe.beta1, why);
    defaults.fill_from("optimizer.beta2", optimizer.beta2, recipe.beta2, why);
    defaults.fill_from("optimizer.eps", optimizer.eps, recipe.eps, why);
    defaults.fill_from("optimizer.nesterov", optimizer.nesterov, recipe.nesterov, why);
    defaults.fill_from("optimizer.clip_norm", optimizer.clip_norm, recipe.clip_norm, why);
  }
  const std::string own = "default of the optimizer " + *optimizer.kind;
  const auto is_taken = [&](const char* key) {
    return catalog::takes(*catalog::find_word(catalog::optimizers(), *optimizer.kind), key);
  };
  defaults.fill("optimizer.lr", optimizer.lr, 0.001, own);
  if (is_taken("momentum")) defaults.fill("optimizer.momentum", optimizer.momentum, 0.9, own);
  if (is_taken("nesterov")) defaults.fill("optimizer.nesterov", optimizer.nesterov, false, own);
  if (is_taken("beta1")) defaults.fill("optimizer.beta1", optimizer.beta1, 0.9, own);
  if (is_taken("beta2")) defaults.fill("optimizer.beta2", optimizer.beta2, 0.999, own);
  if (is_taken("eps")) defaults.fill("optimizer.eps", optimizer.eps, 1e-8, own);
  defaults.fill_from("optimizer.weight_decay", optimizer.weight_decay, recipe.weight_decay, why);
  defaults.fill_from("optimizer.decay", optimizer.decay, recipe.decay, why);
  defaults.fill_from("optimizer.ema_decay", optimizer.ema_decay, recipe.ema_decay, why);
}

// The recipe's decay is for nominal_batch samples an update. Its script makes one of as many
// batches as come near that, and scales the decay by what they come to.
OptimizerSpec recipe_for(const ModelFacts& model, std::int64_t global_batch) {
  OptimizerSpec recipe = model.optimizer;
  if (model.nominal_batch > 0 && recipe.weight_decay) {
    const auto nominal = static_cast<double>(model.nominal_batch);
    const auto batch = static_cast<double>(global_batch);
    const double batches = std::max(std::nearbyint(nominal / batch), 1.0);
    recipe.weight_decay = *recipe.weight_decay * batch * batches / nominal;
  }
  return recipe;
}

void fill_model(Defaults& defaults, RunSpec& spec, const ModelFacts& model, int num_devices) {
  const std::string why = "default of the model " + model.name;
  if (model.image_size > 0) {
    defaults.fill("image_size", spec.image_size, model.image_size, why);
    defaults.fill("engine.channels_last", spec.engine.channels_last, true,
                  "default of image models");
  }
  if (model.sequence_length > 0) {
    defaults.fill("sequence_length", spec.sequence_length, model.sequence_length, why);
  }
  if (!spec.batch_size.global) {
    defaults.fill("batch_size.per_gpu", spec.batch_size.per_gpu, model.batch_per_gpu, why);
  }
  const std::int64_t global_batch = spec.batch_size.global
                                        ? *spec.batch_size.global
                                        : *spec.batch_size.per_gpu * num_devices * spec.accumulate;
  fill_optimizer(defaults, spec.optimizer, recipe_for(model, global_batch), why);
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

constexpr std::string_view kVersionPlace = "{version}";

std::optional<std::string> with_version(std::optional<std::string> name,
                                        const std::string& version) {
  const std::size_t at = name ? name->find(kVersionPlace) : std::string::npos;
  if (at != std::string::npos) name->replace(at, kVersionPlace.size(), version);
  return name;
}

// What stands in a name where its pattern has the version; nothing when it is not so named.
std::optional<std::string> version_in(const std::string& name, const std::string& pattern) {
  const std::size_t at = pattern.find(kVersionPlace);
  if (at == std::string::npos) return std::nullopt;
  const std::string before = pattern.substr(0, at);
  const std::string behind = pattern.substr(at + kVersionPlace.size());
  const bool is_so_named = name.size() > before.size() + behind.size() &&
                           name.starts_with(before) && name.ends_with(behind);
  if (!is_so_named) return std::nullopt;
  return name.substr(before.size(), name.size() - before.size() - behind.size());
}

// The files of one version go together: that of data.make, else that of the training file.
void fill_parts(Defaults& defaults, DataSpec& data, const DatasetFacts& format, bool evaluates) {
  std::string why = "default of the format " + format.name;
  const std::filesystem::path train = data.train.value_or("");
  const std::optional<std::string> named =
      format.train ? version_in(train.filename().string(), *format.train) : std::nullopt;
  const std::vector<std::string> versions = catalog::words("squad_versions");
  if (data.make && named && std::ranges::find(versions, *named) != versions.end()) {
    defaults.fill("data.make.version", data.make->version, *named, why + ", as data.train");
  }
  std::string version = named.value_or(format.make.version.value_or(""));
  if (data.make && data.make->version) {
    version = *data.make->version;
    why += ", as data.make.version";
  } else if (named) {
    why += ", as data.train";
  }
  defaults.fill_from("data.train", data.train, with_version(format.train, version), why);
  if (!evaluates || !format.val) return;
  const std::filesystem::path folder = named ? train.parent_path() : std::filesystem::path();
  defaults.fill("data.val", data.val, (folder / *with_version(format.val, version)).string(), why);
}

void fill_data(Defaults& defaults, DataSpec& data, const DatasetFacts& format, bool evaluates) {
  const std::string why = "default of the format " + format.name;
  fill_parts(defaults, data, format, evaluates);
  defaults.fill_from("data.vocab", data.vocab, format.vocab, why);
  defaults.fill_from("data.doc_stride", data.doc_stride, format.doc_stride, why);
  if (catalog::takes(format, "annotations")) {
    defaults.fill("data.annotations", data.annotations,
                  "annotations/instances_" + *data.train + ".json", why);
  }
  if (catalog::takes(format, "cache")) {
    defaults.fill("data.cache", data.cache, kAnyCache, "default");
    defaults.fill("data.probe", data.probe, true, "default");
  }
  if (catalog::takes(format, "augment")) defaults.fill("data.augment", data.augment, "mosaic", why);
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
  fill_model(defaults, spec, *catalog::find_model(spec.model), num_devices);
  fill_data(defaults, spec.data, *catalog::find_dataset(spec.data.format), spec.evaluate);
  if (!spec.checkpoint.path.empty()) {
    defaults.fill("checkpoint.every", spec.checkpoint.every, WordOrCount{"epoch", 0}, "default");
  }
  if (spec.storage.empty()) {
    spec::visit_paths(spec, [&](const char*, std::string& path) { path = absolute(path, folder); });
  }
  spec::visit_own_paths(spec,
                        [&](const char*, std::string& path) { path = absolute(path, folder); });
  explain_rest(base::to_value(spec), "", out.origin);
  return out;
}

}  // namespace falcon::plan
