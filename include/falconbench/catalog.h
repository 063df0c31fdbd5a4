// What can be named in a spec, with the facts that validation, help, `list`, planning and the
// report need. One written table a kind (src/spec/*_facts.cpp), free of Torch; the engine's own
// tables (src/models/catalog.cpp, ...) map the same names to code, and a test holds the two
// together.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "falconbench/run_spec.h"

namespace falcon {

/// model_options of a transformer; all 0 for another model.
struct EncoderSize {
  std::int64_t layers = 0;
  std::int64_t hidden_size = 0;
  std::int64_t heads = 0;
};

struct ModelFacts {
  std::string name;
  std::string title;            // for people, with the source
  std::string task;             // classification, detection, question_answering
  std::int64_t parameters = 0;  // trainable, with the default options
  std::int64_t parameters_per_class = 0;
  double forward_flops_per_sample = 0;  // of the default input; 1 MAC = 2 FLOPs; training is taken
                                        // as 3 times this
  std::int64_t image_size = 0;          // default side of the input, pixels; 0: takes no pictures
  std::int64_t sequence_length = 0;     // default tokens of the input; 0: takes no tokens
  std::int64_t classes = 0;             // default; 0: has none
  EncoderSize encoder;                  // of a transformer, default
  std::int64_t batch_per_gpu = 0;       // default
  // The recipe's weight decay is for this many samples an update, made of as many batches as come
  // near it; larger batches decay more. 0: whatever the batch.
  std::int64_t nominal_batch = 0;
  double activation_bytes_per_sample =
      0;  // fp32 training of the default input, for the memory estimate; from the architecture
  std::vector<std::string> options;   // keys of model_options that it takes
  std::vector<std::string> datasets;  // formats that it trains on
  OptimizerSpec optimizer;            // the reference recipe, every field set that applies
  ScheduleSpec schedule;
};

struct PrecisionFacts {
  std::string name;
  std::string title;
  bool on_cpu = false;
  bool autocast = false;      // matrix products in a 16-bit type, weights and reductions in fp32
  bool loss_scaling = false;  // dynamic, on the device
  bool tf32 = false;
  int min_capability_major = 0;  // compute capability of the GPU; 0: any
};

/// A word with the sentence that `falconbench list` shows.
struct WordFacts {
  std::string name;
  std::string title;
  std::vector<std::string> options;  // keys beside it that have an effect with this word
};

struct DatasetFacts : WordFacts {
  /// What data.make makes unless told otherwise: set are the fields beside train and val that this
  /// format takes.
  MakeSpec make;
  // defaults of the keys of data that it takes; absent: it does not. "{version}" in a name is
  // make.version.
  std::optional<std::string> train{};
  std::optional<std::string> val{};
  std::optional<std::string> vocab{};
  std::optional<std::int64_t> doc_stride{};
};

/// How the devices of a run work together.
struct StrategyFacts : WordFacts {
  bool is_one_rank = false;  // one worker has all devices, and a step spans them and their threads
  bool divides_state = false;  // among the ranks, which therefore must be several
};

/// A task (ModelFacts::task) whose models evaluate can measure, and by what.
struct TaskFacts : WordFacts {
  std::vector<std::string> not_on{};  // formats whose samples lack what is measured
};

namespace catalog {
std::span<const ModelFacts> models();
std::span<const PrecisionFacts> precisions();
std::span<const StrategyFacts> parallelisms();
std::span<const DatasetFacts> datasets();
std::span<const WordFacts> augmentations();
std::span<const WordFacts> optimizers();
std::span<const WordFacts> schedules();
std::span<const TaskFacts> evaluated_tasks();
std::span<const WordFacts> samplers();
std::span<const WordFacts> findings();
/// The paper's names, valid words on every machine: localGPUs, hybridGPUs, falconGPUs; localNVMe,
/// falconNVMe.
std::span<const WordFacts> topologies();
std::span<const WordFacts> storages();
/// Kinds of pairs of GPUs by where the two sit; all kinds of links, which are these and those
/// between a host and GPUs.
std::span<const WordFacts> pair_classes();
std::span<const WordFacts> link_classes();
/// nullptr when there is none of that name.
const ModelFacts* find_model(std::string_view name);
/// The facts of this model with the options and the sequence length of the spec: parameters, FLOPs
/// and activations (those of other classes: parameters alone). Not for another image_size.
ModelFacts sized(const ModelFacts& model, const RunSpec& spec);
const PrecisionFacts* find_precision(std::string_view name);
const StrategyFacts* find_parallelism(std::string_view name);
const DatasetFacts* find_dataset(std::string_view name);
const TaskFacts* find_evaluated_task(std::string_view name);
const WordFacts* find_word(std::span<const WordFacts> table, std::string_view name);
/// Whether a key beside the word has an effect with it.
bool takes(const WordFacts& word, std::string_view key);
/// The words of a Rule's list ("models", "precisions", "auto_on_off", ...); none for another name.
std::vector<std::string> words(std::string_view list);
}  // namespace catalog

}  // namespace falcon
