"""The spec keys whose effect only a run shows: in its losses (loss_keys_test) or elsewhere (run_keys_test)."""

# Two steps make an epoch here, so that schedules by epoch have an effect within four steps.
BASE = {"data": {"format": "synthetic", "samples": 16}, "budget": {"steps": 4}, "optimizer": {"lr": 0.01}}
COSINE = {"kind": "cosine", "epochs": 2}
LINEAR = {"kind": "linear", "steps": 4}
YOLOV5 = {"kind": "yolov5", "epochs": 2, "warmup_epochs": 1}
ADAMW = {"kind": "adamw", "lr": 0.01}
# A transformer of one narrow layer in place of BASE's network.
BERT = {
    "model": "bert_base",
    "model_options": {"layers": 1, "hidden_size": 16, "heads": 2},
    "image_size": None,
    "sequence_length": 16,
}

# key -> what differs from BASE: the losses do too.
LOSSES = {
    "model_options.dropout": {"model_options": {"dropout": 0.0}},
    "model_options.classes": {"model_options": {"classes": 10}},
    "optimizer.lr": {"optimizer": {"lr": 0.02}},
    "optimizer.momentum": {"optimizer": {"lr": 0.01, "momentum": 0.1}},
    "optimizer.weight_decay": {"optimizer": {"lr": 0.01, "weight_decay": 0.5}},
    "optimizer.nesterov": {"optimizer": {"lr": 0.01, "nesterov": True}},
    "optimizer.clip_norm": {"optimizer": {"lr": 0.01, "clip_norm": 0.01}},
    "schedule.kind": {"schedule": {"kind": "constant"}},
    "schedule.gamma": {"schedule": {"gamma": 0.1}},
    "schedule.step_epochs": {"schedule": {"step_epochs": 2}},
    "schedule.warmup_epochs": {"schedule": {"warmup_epochs": 1}},
    "seed": {"seed": 1},
}
# Against another run than BASE.
PAIRS = {
    "schedule.warmup_start": ({"warmup_epochs": 1, "warmup_start": 0.5}, {"warmup_epochs": 1}),
    "schedule.epochs": (COSINE, {"kind": "cosine", "epochs": 3}),
    "schedule.end_lr": (COSINE, {**COSINE, "end_lr": 0.009}),
    "schedule.steps": (LINEAR, {"kind": "linear", "steps": 8}),
    "schedule.warmup_steps": (LINEAR, {**LINEAR, "warmup_steps": 2}),
    "schedule.warmup_ratio": (LINEAR, {**LINEAR, "warmup_ratio": 0.75}),
    "schedule.warmup_bias_lr": (YOLOV5, {**YOLOV5, "warmup_bias_lr": 0.5}),
    "schedule.warmup_momentum": (YOLOV5, {**YOLOV5, "warmup_momentum": 0.1}),
}
OPTIMIZER_PAIRS = {
    "optimizer.beta1": (ADAMW, {**ADAMW, "beta1": 0.5}),
    "optimizer.beta2": (ADAMW, {**ADAMW, "beta2": 0.5}),
    "optimizer.eps": (ADAMW, {**ADAMW, "eps": 0.1}),
    "optimizer.decay": ({"lr": 0.01, "weight_decay": 0.5}, {"lr": 0.01, "weight_decay": 0.5, "decay": "weights"}),
}
BERT_LOSSES = {
    "model_options.layers": {"model_options": {**BERT["model_options"], "layers": 2}},
    "model_options.hidden_size": {"model_options": {**BERT["model_options"], "hidden_size": 24}},
    "model_options.heads": {"model_options": {**BERT["model_options"], "heads": 4}},
    "sequence_length": {"sequence_length": 24},
}
OTHERS = (
    "name output timeout_s strict data.augment data.vocab data.make.boxes data.make.version data.make.val data.make.side data.make.quality data.loader.prefetch data.loader.io data.cache data.probe "
    "parallelism.ddp.bucket_mb parallelism.ddp.first_bucket_mb parallelism.sharded.stage parallelism.sharded.unit_mb "
    "engine.channels_last engine.deterministic engine.gradient_dtype engine.allreduce "
    "optimizer.ema_decay telemetry.interval_ms telemetry.samplers telemetry.series trace.steps"
).split()
SHOWN = [*LOSSES, *PAIRS, *OPTIMIZER_PAIRS, *BERT_LOSSES, *OTHERS]
