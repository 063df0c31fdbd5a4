"""What `falconbench predict` makes of measured runs on the machine of "Performance Analysis of Deep Learning Workloads on a
Composable System" (eight V100, in the host or in the chassis), beside what the paper states. scripts/paper_claims.py
prints it (--predict-on).

The links are those that the system file declares, computation is scaled from this machine's to a V100's by a published
rate of one V100. It is to be compared with the paper, not to be equal."""

import json
import os
import subprocess

import v100_rates

DEVICES = 8
SETS = ("localGPUs", "hybridGPUs", "falconGPUs")
STATED = {
    "mobilenet_v2": "less than 5 % longer; 4 GB/s",
    "resnet50": "less than 5 % longer; 11.31 GB/s",
    "yolov5l": "less than 7 % longer",
    "bert_base": "an overhead",
    "bert_large": "almost twice the time; 76.43 GB/s",
}


def computing_s(report):
    """Seconds of a step in which nothing waits for the exchange, or None."""
    training = report.get("training") or {}
    step_ms = (training.get("step_time_ms") or {}).get("mean")
    exposed_ms = (training.get("communication") or {}).get("exposed_ms") or 0
    return (step_ms - exposed_ms) / 1000 if step_ms else None


def is_usable(report):
    return (
        report["run"].get("status") == "ok"
        and (report.get("plan") or {}).get("parallelism") in ("ddp", "none")
        and not (report.get("topology") or {}).get("emulated")
        and computing_s(report)
    )


def chosen(files, reports):
    """Model -> (file, report): that of most devices, in 16 bit before other precisions."""
    found = {}
    for file, report in zip(files, reports):
        model = report["spec"].get("model")
        if model in v100_rates.ALONE and is_usable(report):
            rank = (report["spec"].get("precision") == "fp16", len(report["ranks"]))
            if model not in found or rank > found[model][0]:
                found[model] = (rank, file, report)
    return {model: found[model][1:] for model in STATED if model in found}


def compute_scale(report):
    """How many times as long one V100 computes."""
    batch = report["plan"]["global_batch"] / len(report["ranks"])
    return batch / v100_rates.ALONE[report["spec"]["model"]][0] / computing_s(report)


def predicted(file, topology, scale, system, links):
    program = os.environ.get("FALCONBENCH", os.path.join(os.path.dirname(__file__), "../build/bin/falconbench"))
    words = ["--system", system, "--topology", topology, "--devices", str(DEVICES), "--compute-scale", repr(scale)]
    words += ["--measured-links", links] if links else []
    done = subprocess.run(
        [program, "predict", "--report", file, *words, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{file}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def traffic(report, step_ms):
    """GB/s received and sent by all chassis GPUs, of a ring among them."""
    communication = (report.get("training") or {}).get("communication") or {}
    bytes_a_step = communication.get("bytes_per_step") or 4 * report["training"]["model"]["parameters"]
    return 2 * DEVICES * 2 * (DEVICES - 1) / DEVICES * bytes_a_step / step_ms / 1e6


def machine_of(report):
    devices = [device for rank in report["ranks"] for device in rank.get("devices") or []]
    kinds = {device.get("name") or device.get("kind") for device in devices}
    return f"{len(devices)} x {', '.join(sorted(str(kind) for kind in kinds))}"


def row(model, file, report, system, links):
    scale = compute_scale(report)
    found = {name: predicted(file, name, scale, system, links) for name in SETS}
    local, falcon = found["localGPUs"], found["falconGPUs"]
    ratios = [
        f"{found[name]['step_ms'] / local['step_ms']:.2f} ({found[name]['step_low_ms'] / local['step_ms']:.2f} to "
        f"{found[name]['step_high_ms'] / local['step_ms']:.2f})"
        for name in SETS[1:]
    ]
    return [
        model,
        f"{machine_of(report)}, {report['spec'].get('precision')}",
        f"{scale:.3g}",
        f"{local['step_ms']:.4g} ms ({local['step_low_ms']:.4g} to {local['step_high_ms']:.4g})",
        *ratios,
        f"{traffic(report, falcon['step_ms']):.3g} GB/s",
        falcon["bottleneck"].split(":")[0],
        STATED[model],
    ], falcon["fabric_source"]


def table(files, reports, system, links):
    """Markdown lines; links: a document of falconbench links of the machine that the runs were on, or None."""
    runs = chosen(files, reports)
    missing = [model for model in STATED if model not in runs]
    head = ["model", "predicted from", "compute x", "localGPUs, step", "hybridGPUs, times as long"]
    head += ["falconGPUs, times as long", "PCIe traffic there", "bottleneck there", "the paper"]
    lines = [f"Predicted for {DEVICES} V100, links as {os.path.basename(system)} declares them, not measured:", ""]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    sources = []
    for model, (file, report) in runs.items():
        cells, source = row(model, file, report, system, links)
        sources.append(source)
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    lines += [f"No run to predict from: {', '.join(missing)}.", ""] if missing else []
    lines += [f"Links of falconGPUs: {source}." for source in dict.fromkeys(sources)]
    lines.append("Bands are of each step, over the typical step on localGPUs. A V100 alone computes:")
    lines += [f"- {model}: {rate} samples/s ({source})" for model, (rate, source) in v100_rates.ALONE.items()]
    return lines
