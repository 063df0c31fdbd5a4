#include <vector>

#include "falconbench/catalog.h"

namespace falcon::catalog {

std::span<const StrategyFacts> parallelisms() {
  static const std::vector<StrategyFacts> table = {
      {{"none", "one device alone", {}}},
      {{"dp",
        "one worker for all devices: in every step replicas get the state, compute a part of the "
        "batch each and give their gradients back, as torch.nn.DataParallel; no CUDA graph",
        {}},
       /*is_one_rank=*/true},
      {{"ddp",
        "one worker per device with a replica each; gradients are averaged in buckets while the "
        "backward pass goes on",
        {"bucket_mb", "first_bucket_mb"}}},
      {{"sharded",
        "as ddp, but optimizer state (stage 1), gradients (2) and parameters (3) are divided among "
        "the workers, as in ZeRO",
        {"stage", "unit_mb"}},
       /*is_one_rank=*/false,
       /*divides_state=*/true},
  };
  return table;
}

std::span<const WordFacts> optimizers() {
  static const std::vector<WordFacts> table = {
      {"sgd",
       "stochastic gradient descent with momentum",
       {"lr", "momentum", "weight_decay", "decay", "nesterov", "clip_norm", "ema_decay"}},
      {"adamw",
       "Adam with decoupled weight decay",
       {"lr", "beta1", "beta2", "eps", "weight_decay", "decay", "clip_norm", "ema_decay"}},
  };
  return table;
}

std::span<const WordFacts> schedules() {
  static const std::vector<WordFacts> table = {
      {"constant", "the same learning rate throughout", {"warmup_epochs", "warmup_start"}},
      {"step",
       "the learning rate is multiplied by gamma every step_epochs epochs",
       {"step_epochs", "gamma", "warmup_epochs", "warmup_start"}},
      {"cosine",
       "the learning rate falls to end_lr along half a cosine over epochs",
       {"epochs", "end_lr", "warmup_epochs", "warmup_start"}},
      {"linear",
       "the learning rate changes every step: up from 0 in the warm-up, then in a line to 0 at the "
       "end of the schedule",
       {"steps", "epochs", "warmup_steps", "warmup_ratio"}},
      {"cosine_by_step",
       "the same along half a cosine",
       {"steps", "epochs", "warmup_steps", "warmup_ratio"}},
      {"yolov5",
       "YOLOv5's: in the warm-up (at least 100 steps) the rates go step by step to where the line "
       "from lr to end_lr is, afterwards an epoch trains at the rate of the epoch before",
       {"epochs", "end_lr", "warmup_epochs", "warmup_bias_lr", "warmup_momentum"}},
      {"yolov5_cosine",
       "the same with half a cosine in place of the line",
       {"epochs", "end_lr", "warmup_epochs", "warmup_bias_lr", "warmup_momentum"}},
  };
  return table;
}

std::span<const DatasetFacts> datasets() {
  static const std::vector<DatasetFacts> table = {
      {{"synthetic",
        "made from the seed and the sample's number, reads no file",
        {"samples", "loader"}},
       {}},
      {{"imagefolder",
        "JPEG files in one folder for each class, PATH/train/CLASS/*.jpg",
        {"path", "train", "val", "cache", "probe", "make", "loader"}},
       {.classes = 4, .side = 500, .quality = 90},
       "train",
       "val"},
      {{"coco",
        "JPEG files with boxes in a COCO annotation file, PATH/annotations/instances_train.json",
        {"path", "train", "val", "annotations", "augment", "cache", "probe", "make", "loader"}},
       {.classes = 8, .side = 640, .quality = 90, .boxes = 7},
       "train",
       "val"},
      {{"yolo",
        "JPEG files with boxes in YOLO label files, PATH/images/train/*.jpg and "
        "PATH/labels/train/*.txt",
        {"path", "train", "val", "augment", "cache", "probe", "make", "loader"}},
       {.classes = 8, .side = 640, .quality = 90, .boxes = 7},
       "train",
       "val"},
      {{"squad",
        "questions on texts, in SQuAD's JSON (v1.1 or v2.0), with a WordPiece vocabulary",
        {"path", "train", "val", "vocab", "doc_stride", "cache", "probe", "make", "loader"}},
       {.version = "v1.1"},
       "train-{version}.json",
       "dev-{version}.json",
       "vocab.txt",
       128},
  };
  return table;
}

std::span<const TaskFacts> evaluated_tasks() {
  static const std::vector<TaskFacts> table = {
      {{"classification",
        "top1 and top5: share of the samples whose class is the likeliest, or among the five",
        {}}},
      {{"detection",
        "map50 and map50_95: mean average precision as COCO defines it, mAP@0.5 and mAP@0.5:0.95",
        {}}},
      {{"question_answering",
        "exact_match and f1: how far the texts of the answers are the true ones, as in the "
        "official SQuAD scripts, but as shares",
        {}},
       {"synthetic"}},
  };
  return table;
}

std::span<const WordFacts> augmentations() {
  static const std::vector<WordFacts> table = {
      {"mosaic", "four pictures in one, with zoom, shift, colour and mirroring drawn anew", {}},
      {"single", "one picture, with zoom, shift, colour and mirroring drawn anew", {}},
      {"none", "one picture as for an evaluation, letterboxed", {}},
  };
  return table;
}

}  // namespace falcon::catalog
