"""Small reports for tests of the verbs that read them: only what the test is about."""

import json


def report(name, *, topology="localGPUs", rate=100.0, status="ok", seed=0, model="bert_large", **spec):
    """A report of schema_version 1; everything else is missing, as an older program would leave it."""
    return {
        "schema_version": 1,
        "run": {"id": name, "name": name, "status": status},
        "spec": {"model": model, "topology": topology, "seed": seed, "precision": "fp16", **spec},
        "plan": {"data": {"samples": 1000}, "steps_per_epoch": 10, "global_batch": 100, "parallelism": "ddp"},
        "training": {
            "samples": 1000,
            "training_time_s": 1000 / rate,
            "throughput": {"samples_per_s": rate, "formula": "made"},
            "step_time_ms": {"count": 10, "mean": 1e5 / rate, "ci95": 100 / rate},
        },
        "ranks": [{"rank": 0, "devices": [{"kind": "cuda", "uuid": "GPU-0", "name": "Made"}]}],
    }


def write(folder, name, **figures):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(report(name, **figures)))
    return str(path)


MODELS = {  # name: samples/s on the base, its slowdown in the chassis
    "mobilenet_v2": (7200.0, 0.03),
    "resnet50": (5600.0, 0.04),
    "yolov5l": (610.0, 0.06),
    "bert_base": (820.0, 0.35),
    "bert_large": (260.0, 0.95),
}
PLACES = {  # name: (topology, storage, share of the slowdown, share of GPUs in the chassis, emulated)
    "localGPUs": ("localGPUs", "", 0.0, 0, False),
    "hybridGPUs": ("hybridGPUs", "", 0.6, 1, True),
    "falconGPUs": ("falconGPUs", "", 1.0, 2, True),
    "localNVMe": ("localGPUs", "localNVMe", -0.03, 0, False),
    "falconNVMe": ("localGPUs", "falconNVMe", -0.02, 0, False),
}


def summary(mean):
    return {"mean": mean, "min": mean * 0.9, "max": mean * 1.1, "count": 50, "covered_pct": 100.0}


def statistics(mean):
    steps = {"p50": 0.99, "p90": 1.05, "p95": 1.1, "p99": 1.3, "min": 0.9, "max": 1.6, "stddev": 0.05, "ci95": 0.002}
    return {"count": 100, "mean": mean, **{name: mean * share for name, share in steps.items()}}


def full_report(model, place, seed=0, name=None):
    """A report with all that the page draws, in made-up but plausible figures, the same for the same arguments."""
    rate, slowdown = MODELS[model]
    topology, storage, share, in_chassis, emulated = PLACES[place]
    step_ms, slower = 64e3 / rate, 1 + slowdown * share
    noise = 1 + 0.004 * ((seed * 2654435761) % 7 - 3)
    out = report(name or f"{model}-{place}-{seed}", topology=topology, rate=rate / slower / noise, seed=seed, model=model)
    out["run"] |= {"hostname": "made-host", "started_at": "2026-01-31T12:00:00Z"}
    out["tool"] = {"name": "falconbench", "version": "0", "revision": "made"}
    out["spec"]["storage"] = storage
    out["system"] = {
        "hostname": "made-host",
        "gpus": [{"uuid": f"GPU-{i}", "memory_bytes": 16000000000} for i in range(2)],
    }
    out["ranks"] = [
        {"rank": i, "devices": [{"kind": "cuda", "uuid": f"GPU-{i}", "name": "Made GPU"}]} for i in range(2)
    ]
    out["topology"] = {
        "verdict": "matched",
        "emulated": emulated,
        "gpus": [{"uuid": f"GPU-{i}", "attach": "falcon" if i < in_chassis else "local"} for i in range(2)],
    }
    training = out["training"]
    training["step_time_ms"] = statistics(step_ms * slower * noise)
    exposed = step_ms * (slower * noise - 0.95)
    shares = {"data_wait": 0.01, "h2d": 0.01, "forward": 0.3, "backward": 0.58, "optimizer": 0.04, "other": 0.01}
    training["phases_ms"] = {phase: statistics(step_ms * part) for phase, part in shares.items()}
    training["phases_ms"]["communication_exposed"] = statistics(max(exposed, step_ms * 0.001))
    training["communication"] = {"exposed_ms": exposed, "busy_ms": exposed * 2}
    training["energy_j_per_sample"] = 600 * slower / rate
    gpu = {
        "gpu_busy_pct": summary(96 - 4 * share),
        "memory_busy_pct": summary(55 - 20 * share * slowdown),
        "memory_used_bytes": summary(11e9),
        "pcie_rx_bytes_per_s": summary(1e9 + 18e9 * slowdown * share),
        "pcie_tx_bytes_per_s": summary(1e9 + 18e9 * slowdown * share),
        "power_w": summary(280.0),
    }
    host = {"cpu_pct": summary(30.0 if "bert" not in model else 8.0), "memory_used_bytes": summary(48e9)}
    out["utilization"] = {"gpus": [{"uuid": f"GPU-{i}", **gpu} for i in range(2)], "host": host}
    times = [0.2 * (i + 1) for i in range(150)]
    busy = [0 if t < 4 else 30 if i % 50 < 3 else 96 - 3 * share - (i * 7 + seed) % 5 for i, t in enumerate(times)]
    out["series"] = {
        f"GPU-{i}/gpu_busy_pct": {"scope": f"GPU-{i}", "metric": "gpu_busy_pct", "t_s": times, "values": busy}
        for i in range(2)
    }
    if emulated:
        out["findings"] = [
            {"id": "chassis_emulated", "severity": "warning", "message": "the chassis is emulated", "advice": "do not quote"}
        ]
    return out


def write_study(folder, number):
    """The first `number` reports of the paper's matrix, repeated with other seeds."""
    matrix = [(model, place) for model in MODELS for place in PLACES]
    for index in range(number):
        made = full_report(*matrix[index % len(matrix)], seed=index // len(matrix))
        (folder / f"{index:04}.json").write_text(json.dumps(made))
