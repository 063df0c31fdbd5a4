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
