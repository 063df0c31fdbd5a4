// The parts of a run spec about the model's variations and the data (falconbench/run_spec.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "falconbench/fields.h"

namespace falcon {

struct ModelOptionsSpec {
  std::optional<std::int64_t> classes;
  std::optional<double> dropout;
  std::optional<std::int64_t> layers;
  std::optional<std::int64_t> hidden_size;
  std::optional<std::int64_t> heads;
};
template <class V>
void visit_fields(ModelOptionsSpec& s, V& v) {
  v.field("classes", s.classes,
          "number of classes (default: those of the data set; synthetic: 1000)", at_least(2));
  v.field("dropout", s.dropout,
          "dropout probability, where the model has one (default: the reference's)",
          between(0, 0.99));
  v.field("layers", s.layers, "encoder layers of a transformer (default: the model's)",
          between(1, 128));
  v.field("hidden_size", s.hidden_size,
          "width of a token in a transformer, divisible by heads (default: the model's)",
          between(8, 16384));
  v.field("heads", s.heads, "attention heads of a transformer (default: the model's)",
          between(1, 256));
}

/// A format takes train, val and what its row of catalog::datasets() sets.
struct MakeSpec {
  std::int64_t train = 0;
  std::int64_t val = 0;
  std::optional<std::int64_t> classes{};
  std::optional<std::int64_t> side{};
  std::optional<std::int64_t> quality{};
  std::optional<std::int64_t> boxes{};
  std::optional<std::string> version{};
};
template <class V>
void visit_fields(MakeSpec& s, V& v) {
  v.field("train", s.train, "training samples to make (squad: questions)", required_at_least(1));
  v.field("val", s.val, "samples to make for evaluation (squad: questions of dev-VERSION.json)",
          at_least(0));
  v.field("classes", s.classes, "number of classes (default: imagefolder 4, coco and yolo 8)",
          between(2, 10000));
  v.field("side", s.side,
          "mean of the longer side of a picture, pixels; they vary by a fifth (default: "
          "imagefolder 500, coco and yolo 640)",
          between(32, 8192));
  v.field("quality", s.quality, "JPEG quality (default: 90)", between(1, 100));
  v.field("boxes", s.boxes, "mean number of objects in a picture (default: 7)", between(1, 100));
  v.field("version", s.version,
          "of SQuAD, v2.0 has impossible questions (default: v1.1); the files are "
          "train-VERSION.json and dev-VERSION.json",
          one_of("squad_versions"));
}

/// Words of data.loader.io and data.cache.
inline constexpr const char* kBufferedIo = "buffered";
inline constexpr const char* kDirectIo = "direct";
inline constexpr const char* kUringIo = "uring";
inline constexpr const char* kAnyCache = "any";
inline constexpr const char* kColdCache = "cold";
inline constexpr const char* kWarmCache = "warm";

struct LoaderSpec {
  std::optional<std::int64_t> threads;
  std::int64_t prefetch = 4;
  std::string io = kBufferedIo;
};
template <class V>
void visit_fields(LoaderSpec& s, V& v) {
  v.field("threads", s.threads,
          "decode threads of each worker (default: its share of the allowed CPUs)",
          between(1, 1024));
  v.field("prefetch", s.prefetch, "batches read ahead by each worker", between(1, 64));
  v.field("io", s.io,
          "how files are read: buffered (through the page cache), direct (past it, O_DIRECT) or "
          "uring (io_uring, through it); where the system refuses, buffered, with a finding",
          one_of("file_ios"));
}

struct DataSpec {
  std::string format = "synthetic";
  std::string path;
  std::optional<std::string> train;
  std::optional<std::string> annotations;
  std::optional<std::string> augment;
  std::optional<std::string> vocab;
  std::optional<std::int64_t> doc_stride;
  std::optional<std::string> val;
  std::optional<std::int64_t> samples;
  std::optional<std::string> cache;
  std::optional<bool> probe;
  std::optional<MakeSpec> make;
  LoaderSpec loader;
};
template <class V>
void visit_fields(DataSpec& s, V& v) {
  v.field("format", s.format, "what the data is", one_of("datasets"));
  v.field("path", s.path,
          "data folder, relative to the storage's mount if storage is given, else to the spec file "
          "(in --set: to the working directory)");
  v.field("train", s.train,
          "where below path the training samples are (default: the folder train; squad: the file "
          "train-v1.1.json, or of data.make.version)");
  v.field("annotations", s.annotations,
          "COCO annotation file of the training samples, below path (default: "
          "annotations/instances_<train>.json; an evaluation takes instances_<val>.json)");
  v.field("augment", s.augment,
          "how training samples of detection are made (default: mosaic, the reference recipe)",
          one_of("augmentations"));
  v.field("vocab", s.vocab,
          "vocabulary of squad below path, one token a line (default: vocab.txt)");
  v.field("doc_stride", s.doc_stride,
          "squad: context tokens that two neighbouring windows of a long text share (default: 128)",
          between(0, 511));
  v.field("val", s.val,
          "where below path the validation samples of an evaluation are (default: the folder val; "
          "squad: the file dev-v1.1.json, or of the version of train)");
  v.field("samples", s.samples,
          "size of a synthetic data set (default: the original's: 1281167 pictures, 88524 token "
          "sequences)",
          at_least(1));
  v.field("cache", s.cache,
          "state of the page cache when training begins: cold (the training files are dropped from "
          "it), warm (they are read through beforehand) or any (left as it is; the "
          "default)",
          one_of("cache_states"));
  v.field("probe", s.probe,
          "measure before the run how fast the storage gives files of the data set: storage.probe "
          "(default: true)");
  v.field("make", s.make, "fill an empty or absent path with made samples before the run");
  v.field("loader", s.loader, "the input pipeline");
}

}  // namespace falcon
