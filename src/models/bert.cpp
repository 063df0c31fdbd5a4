#include "models/bert.h"

#include <string>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <falconbench/errors.h>

#include "models/initialization.h"
#include "models/layers.h"
#include "models/network_model.h"
#include "ops/basic.h"
#include "ops/transformer.h"

namespace falcon::models {

namespace {

constexpr double kReferenceDropout = 0.1;
constexpr double kInitialStddev = 0.02;
constexpr std::int64_t kVocabulary = 30522;
constexpr std::int64_t kMaxPositions = 512;
constexpr std::int64_t kTokenTypes = 2;
constexpr std::int64_t kPaddingId = 0;
constexpr std::int64_t kWideningOfIntermediate = 4;

struct BertSize {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  double dropout = kReferenceDropout;
};

/// weight and bias [H].
class LayerNorm : public Module {
 public:
  explicit LayerNorm(std::int64_t hidden) {
    norm_.weight = add_parameter("weight", at::ones({hidden}));
    norm_.bias = add_parameter("bias", at::zeros({hidden}));
  }
  const ops::LayerNormTensors& tensors() const { return norm_; }
  void set_fused(bool fused) override { norm_.fused = fused; }

 private:
  ops::LayerNormTensors norm_;
};

/// weight [N, H].
class Table : public Module {
 public:
  Table(std::int64_t rows, std::int64_t hidden)
      : weight_(add_parameter("weight", at::zeros({rows, hidden}))) {}
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor weight_;
};

/// What all layers of one forward pass share.
struct Pass {
  at::Tensor key_bias;  // [B, 1, 1, S]
  ops::AttentionShape attention;
  double dropout = 0;
  bool training = false;
  std::string* backend = nullptr;  // is set to what the next attention takes, unless nullptr
};

at::Tensor dense(const at::Tensor& x, const Linear& layer) {
  return ops::dense(x, {layer.weight()}, {layer.bias()});
}

class Embeddings : public Module {
 public:
  explicit Embeddings(const BertSize& size)
      : words_(kVocabulary, size.hidden),
        positions_(kMaxPositions, size.hidden),
        token_types_(kTokenTypes, size.hidden),
        norm_(size.hidden) {
    add_child("word_embeddings", words_);
    add_child("position_embeddings", positions_);
    add_child("token_type_embeddings", token_types_);
    add_child("LayerNorm", norm_);
  }

  at::Tensor forward(const Batch& batch, const Pass& pass) const {
    const ops::EmbeddingTables tables{words_.weight(), token_types_.weight(), positions_.weight(),
                                      kPaddingId, fused_};
    const at::Tensor sum = ops::embedding(tables, batch["input_ids"], batch["token_type_ids"]);
    return ops::dropout(ops::layer_norm(sum, norm_.tensors()), pass.dropout, pass.training);
  }
  void set_fused(bool fused) override {
    fused_ = fused;
    Module::set_fused(fused);
  }

 private:
  Table words_, positions_, token_types_;
  LayerNorm norm_;
  bool fused_ = true;
};

class EncoderLayer : public Module {
 public:
  explicit EncoderLayer(const BertSize& size)
      : query_(size.hidden, size.hidden),
        key_(size.hidden, size.hidden),
        value_(size.hidden, size.hidden),
        mix_(size.hidden, size.hidden),
        mix_norm_(size.hidden),
        widen_(size.hidden, kWideningOfIntermediate * size.hidden),
        narrow_(kWideningOfIntermediate * size.hidden, size.hidden),
        norm_(size.hidden) {
    add_child("attention.self.query", query_);
    add_child("attention.self.key", key_);
    add_child("attention.self.value", value_);
    add_child("attention.output.dense", mix_);
    add_child("attention.output.LayerNorm", mix_norm_);
    add_child("intermediate.dense", widen_);
    add_child("output.dense", narrow_);
    add_child("output.LayerNorm", norm_);
  }

  at::Tensor forward(const at::Tensor& x_TH, const Pass& pass) const {
    const auto [qkv, residual] =
        ops::branched_dense(x_TH, {query_.weight(), key_.weight(), value_.weight()},
                            {query_.bias(), key_.bias(), value_.bias()});
    if (pass.backend != nullptr) {
      *pass.backend = ops::attention_backend(qkv, pass.key_bias, pass.attention);
    }
    const at::Tensor mixed = ops::attention(qkv, pass.key_bias, pass.attention);
    const at::Tensor y_TH = ops::layer_norm(dense(mixed, mix_), mix_norm_.tensors(), residual,
                                            pass.dropout, pass.training);
    const auto [wide, wide_residual] =
        ops::branched_dense(y_TH, {widen_.weight()}, {widen_.bias()});
    return ops::layer_norm(dense(ops::gelu(wide), narrow_), norm_.tensors(), wide_residual,
                           pass.dropout, pass.training);
  }

 private:
  Linear query_, key_, value_, mix_;
  LayerNorm mix_norm_;
  Linear widen_, narrow_;
  LayerNorm norm_;
};

class BertTree : public Module {
 public:
  explicit BertTree(const BertSize& size) : embeddings(size), qa_outputs(size.hidden, 2) {
    add_child("bert.embeddings", embeddings);
    for (std::int64_t i = 0; i < size.layers; ++i) {
      layers.push_back(std::make_unique<EncoderLayer>(size));
      add_child(layer_name(i), *layers.back());
    }
    add_child("qa_outputs", qa_outputs);
  }
  static std::string layer_name(std::int64_t index) {
    return "bert.encoder.layer." + std::to_string(index);
  }

  Embeddings embeddings;
  std::vector<std::unique_ptr<EncoderLayer>> layers;
  Linear qa_outputs;
};

class Bert : public NetworkModel {
 public:
  Bert(const BertSize& size, std::unique_ptr<BertTree> tree)
      : NetworkModel(*tree), size_(size), tree_(std::move(tree)) {}

  std::vector<at::Tensor> forward(const Batch& batch) override {
    const at::Tensor& ids = batch["input_ids"];
    check_length(ids.size(1));
    const auto tapped = [&](const std::string& name, const at::Tensor& x_TH) {
      if (tap()) tap()(name, x_TH.view({ids.size(0), ids.size(1), -1}));
    };
    Pass pass = make_pass(batch);
    at::Tensor x_TH = tree_->embeddings.forward(batch, pass);
    tapped("bert.embeddings", x_TH);
    // the same for all layers and steps: it follows from types, shapes and the machine
    if (backend_.empty()) pass.backend = &backend_;
    for (std::int64_t i = 0; i < size_.layers; ++i) {
      const auto layer = static_cast<std::size_t>(i);
      x_TH = tree_->layers[layer]->forward(hooks().entered(layer + 1, x_TH), pass);
      pass.backend = nullptr;
      tapped(BertTree::layer_name(i), x_TH);
    }
    x_TH = hooks().entered(tree_->layers.size() + 1, x_TH);
    const at::Tensor logits = dense(x_TH, tree_->qa_outputs);
    tapped("qa_outputs", logits);
    return logits.view({ids.size(0), ids.size(1), 2}).unbind(-1);
  }

  at::Tensor loss(const std::vector<at::Tensor>& outputs, const Batch& batch) override {
    const at::Tensor start = ops::position_loss(outputs.at(0), batch["start_positions"]);
    return (start + ops::position_loss(outputs.at(1), batch["end_positions"])) / 2;
  }

  void initialize(std::uint64_t seed) override {
    const at::NoGradGuard no_grad;
    for (const NamedTensor& entry : state()) {
      if (entry.tensor.dim() == 2) {
        fill_normal(entry.tensor, kInitialStddev, seed, entry.name);
      } else {
        entry.tensor.fill_(entry.name.ends_with("weight") ? 1 : 0);
      }
    }
    parameters().front().tensor.select(0, kPaddingId).zero_();  // of the word embeddings
  }

  std::vector<std::string> blocks() const override {
    std::vector<std::string> prefixes;
    for (std::int64_t i = 0; i < size_.layers; ++i) {
      prefixes.push_back(BertTree::layer_name(i) + ".");
    }
    prefixes.emplace_back("qa_outputs.");
    return prefixes;
  }

  /// The tables of the embeddings are added up in their own type, and normalised in float32.
  bool is_product_weight(const NamedTensor& parameter) const override {
    return !parameter.name.starts_with("bert.embeddings.") &&
           parameter.name.find("LayerNorm") == std::string::npos;
  }

  std::map<std::string, std::string> choices() const override {
    return {{"attention", backend_.empty() ? "not run yet" : backend_}};
  }

 private:
  static void check_length(std::int64_t length) {
    if (length <= kMaxPositions) return;
    throw Error(ExitCode::kUsage, "a sequence of " + std::to_string(length) +
                                      " tokens; BERT has positions for " +
                                      std::to_string(kMaxPositions));
  }

  Pass make_pass(const Batch& batch) const {
    Pass pass;
    pass.training = training();
    pass.dropout = size_.dropout;
    pass.attention.sequence = batch["input_ids"].size(1);
    pass.attention.heads = size_.heads;
    pass.attention.dropout = training() ? size_.dropout : 0;
    const at::ScalarType type = tree_->qa_outputs.weight().scalar_type();
    pass.key_bias = ops::key_bias(batch["attention_mask"], type);
    return pass;
  }

  BertSize size_;
  std::unique_ptr<BertTree> tree_;
  std::string backend_;
};

std::unique_ptr<Model> make_bert(BertSize size, const ModelOptions& options) {
  if (options.layers > 0) size.layers = options.layers;
  if (options.hidden_size > 0) size.hidden = options.hidden_size;
  if (options.heads > 0) size.heads = options.heads;
  if (options.dropout >= 0) size.dropout = options.dropout;
  if (size.hidden % size.heads != 0) {
    throw Error(ExitCode::kUsage, "model_options.hidden_size (" + std::to_string(size.hidden) +
                                      ") does not divide by model_options.heads (" +
                                      std::to_string(size.heads) + ")");
  }
  return std::make_unique<Bert>(size, std::make_unique<BertTree>(size));
}

}  // namespace

std::unique_ptr<Model> make_bert_base(const ModelOptions& options) {
  return make_bert({.layers = 12, .hidden = 768, .heads = 12}, options);
}

std::unique_ptr<Model> make_bert_large(const ModelOptions& options) {
  return make_bert({.layers = 24, .hidden = 1024, .heads = 16}, options);
}

}  // namespace falcon::models
