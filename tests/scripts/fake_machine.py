#!/usr/bin/env python3
"""Stands in for falconbench on a machine with two GPUs: links, data, runs and predictions in known figures, at once.
FAKE_WORLD (JSON) changes them; each call adds its arguments as a line to the file FAKE_CALLS."""

import hashlib
import json
import os
import re
import sys
import time

WORLD = {"gpus": 2, "staged": 2.5, "error": 0.02, "scaling": 0.97, "gain": 2, **json.loads(os.environ["FAKE_WORLD"])}
BATCH = {"resnet50": 128, "mobilenet_v2": 64, "yolov5l": 11, "bert_base": 12, "bert_large": 6}
STEP_MS = 20.0


def value(words, name):
    return words[words.index(name) + 1] if name in words else None


def gpus():
    return [{"index": i, "uuid": f"GPU-{i}", "pci_address": f"0000:0{i}:00.0"} for i in range(WORLD["gpus"])]


def links(words):
    if WORLD["gpus"] == 0:
        return 3
    devices = gpus()
    found = [{"id": WORLD["finding"], "message": "made finding"}] if "finding" in WORLD else []
    pair = {"pair_class": "NV18", "peer_to_peer": {"write_bytes_per_s": 390e9}}
    collectives = [
        {"operation": "all_reduce", "peer_to_peer": direct, "bus_bytes_per_s": speed}
        for direct, speed in ((True, 330e9), (False, 29e9))
    ]
    document = {"devices": devices, "pairs": [pair], "classes": [], "collectives": collectives, "findings": found}
    write(value(words, "--output"), document)
    return 0


def write(path, document):
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.replace(path + ".part", path)


def data(words):
    """A set is one file that says how it was made; another one is refused."""
    path, made = os.path.join(words[3], "made"), " ".join([words[2], *words[4:]])
    if not os.path.exists(path):
        os.makedirs(words[3])
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
    with open(path, encoding="utf-8") as file:
        return 0 if file.read() == made else 2


def read_spec(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        return json.loads(text)
    return {
        "model": re.search(r"^model: (\w+)", text, re.M)[1],
        "batch_size": {"per_gpu": int(re.search(r"^batch_size: {per_gpu: (\d+)}", text, re.M)[1])},
    }


def spec_of(words):
    spec = read_spec(value(words, "--config"))
    for at, word in enumerate(words):
        if word == "--set":
            key, _, text = words[at + 1].partition("=")
            spec[key] = text
    stage = str(spec.get("parallelism", "ddp"))
    if "stage: " in stage:
        spec["parallelism"] = {"sharded": {"stage": int(stage.split("stage: ")[1][0])}}
    if isinstance(spec.get("batch_size"), str):
        spec["batch_size"] = {"per_gpu": int(re.search(r"per_gpu: (\d+)", spec["batch_size"])[1])}
    return spec


def fits(spec):
    stage = spec["parallelism"]["sharded"]["stage"] if isinstance(spec["parallelism"], dict) else 0
    return int(spec["batch_size.per_gpu"]) <= 20 + stage * WORLD["gain"]


def report_of(spec, spec_hash):
    devices = int(spec.get("devices", 2))
    staged = "emulate" in spec
    batch = (spec.get("batch_size") or {"per_gpu": BATCH[spec["model"]]})["per_gpu"]
    slow = WORLD["staged"] if staged and spec["model"] == "bert_large" else 1.05 if staged else 1
    rate = 100.0 * devices * (WORLD["scaling"] if devices == 2 else 1) / slow
    strategy = spec.get("parallelism", "ddp")
    ranks = [{"memory": dict.fromkeys(MEMORY, 1e9), "gpu_memory_peak_bytes": 8e9, "devices": [{"uuid": f"GPU-{i}"}]} for i in range(devices)]
    return {
        "run": {"status": "failed" if spec["model"] == WORLD.get("failing") else "ok", "spec_hash": spec_hash},
        "spec": {"precision": "fp16", **spec},
        "plan": {"global_batch": batch * devices, "parallelism": strategy if isinstance(strategy, str) else next(iter(strategy))},
        "ranks": ranks,
        "topology": {"verdict": "matched", "emulated": staged},
        "findings": [],
        "error": None,
        "training": {
            "samples": 100,
            "training_time_s": slow,
            "throughput": {"samples_per_s": rate},
            "step_time_ms": {"mean": STEP_MS * slow, "p50": STEP_MS * slow},
        },
    }  # fmt: skip


MEMORY = [f"{name}_bytes" for name in ("parameter", "gradient", "master", "optimizer", "exchange")]


def run(words):
    if "--config" not in words:  # a look at the machine
        print(json.dumps({"places": {"gpus": gpus()}}))
        return 0 if WORLD["gpus"] >= int(value(words, "--devices")) else 3
    spec = spec_of(words)
    spec_hash = hashlib.sha256(json.dumps(spec).encode()).hexdigest()
    if "--dry-run" in words:
        print(json.dumps({"spec_hash": spec_hash}))
        return 0
    if WORLD.get("hanging") and WORLD["hanging"] in value(words, "--config"):
        time.sleep(600)
    report = report_of(spec, spec_hash)
    code = 0 if report["run"]["status"] == "ok" else 4
    if "engine.memory_limit_gb" in spec and not fits(spec):
        report["error"], code = {"kind": "out_of_memory", "message": "made"}, 4
    write(value(words, "--output"), report)
    return code


def predict(words):
    with open(value(words, "--report"), encoding="utf-8") as file:
        report = json.load(file)
    slow = WORLD["staged"] if report["spec"]["model"] == "bert_large" else 1.05
    right = STEP_MS * (slow if value(words, "--topology") == "host_staged" else 1)
    print(json.dumps({"step_ms": right * (1 + WORLD["error"])}))
    return 0


def main(words):
    with open(os.environ["FAKE_CALLS"], "a", encoding="utf-8") as file:
        print(*words, file=file)
    verbs = {"links": links, "data": data, "predict": predict, "report": lambda _: 0}
    return verbs.get(words[0], run)(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
