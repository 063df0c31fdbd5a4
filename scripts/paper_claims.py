"""What "Performance Analysis of Deep Learning Workloads on a Composable System" (IBM, arXiv 2103.10911) states in words,
beside what the reports of a sweep measured: a Markdown table on standard output.

  python3 scripts/paper_claims.py REPORT_OR_DIR... [--links links.json] [--predict-on SYSTEM_FILE]

Figures are means over the runs that ended well; times are those of the steps, without checkpoints and evaluation. What no
report tells is "not measured"; what was emulated says so. An emulated chassis and other GPUs are not the paper's machine:
the columns are to be compared, not to be equal. --predict-on adds what falconbench predict makes of the runs on the machine
of a system file, with V100 GPUs (configs/systems/paper-falcon4016.yaml)."""

import argparse
import glob
import json
import os
import sys

import paper_prediction

VISION = ("mobilenet_v2", "resnet50", "yolov5l")
MODELS = (*VISION, "bert_base", "bert_large")
FALCON = ("hybridGPUs", "falconGPUs")


class Study:
    """Means over repeats, by model, topology, storage, precision and strategy."""

    def __init__(self, reports):
        self.reports = [report for report in reports if report["run"].get("status") == "ok"]

    def chosen(self, model, topology, storage="", **spec):
        for report in self.reports:
            given = report["spec"]
            given = {**given, "parallelism": (report.get("plan") or {}).get("parallelism")}
            wanted = {"precision": "fp16", "parallelism": "ddp", **spec}
            if (
                given.get("model") == model
                and given.get("topology") == topology
                and (given.get("storage") or "") == storage
                and all(given.get(key) == value for key, value in wanted.items())
            ):
                yield report

    def mean(self, figure, *place, **spec):
        """(mean, emulated) or None."""
        reports = list(self.chosen(*place, **spec))
        values = [value for report in reports if (value := figure(report)) is not None]
        if not values:
            return None
        return sum(values) / len(values), any((report.get("topology") or {}).get("emulated") for report in reports)


def sample_s(report):
    """Time of the steps a sample: where passes are short, checkpoints between them would be most of the training time."""
    rate = ((report.get("training") or {}).get("throughput") or {}).get("samples_per_s")
    return 1 / rate if rate else None


def of_gpus(name, of="mean"):
    def figure(report):
        values = [(gpu.get(name) or {}).get(of) for gpu in (report.get("utilization") or {}).get("gpus") or []]
        return sum(values) / len(values) if values and None not in values else None

    return figure


def of_host(name):
    return lambda report: (((report.get("utilization") or {}).get("host") or {}).get(name) or {}).get("mean")


def chassis_traffic(report):
    """Bytes/s received and sent by the GPUs in the chassis."""
    inside = {
        gpu.get("uuid") for gpu in (report.get("topology") or {}).get("gpus") or [] if gpu.get("attach") == "falcon"
    }
    total = 0.0
    for gpu in (report.get("utilization") or {}).get("gpus") or []:
        if gpu.get("uuid") in inside:
            ways = [(gpu.get(f"pcie_{way}_bytes_per_s") or {}).get("mean") for way in ("rx", "tx")]
            if None in ways:
                return None
            total += sum(ways)
    return total if inside else None


def shown(found, text):
    return text + (" (emulated)" if found[1] else "") if found else ""


def slowdowns(study, models, topologies=FALCON):
    cells = []
    for model in models:
        base = study.mean(sample_s, model, "localGPUs")
        for topology in topologies:
            time = study.mean(sample_s, model, topology)
            if base and time:
                cells.append(shown(time, f"{model} {topology} {100 * (time[0] / base[0] - 1):+.1f} %"))
    return ", ".join(cells)


def values(study, figure, unit, models=MODELS, topologies=("localGPUs", *FALCON), scale=1.0):
    cells = []
    for model in models:
        for topology in topologies:
            found = study.mean(figure, model, topology)
            if found:
                cells.append(shown(found, f"{model} {topology} {found[0] * scale:.3g} {unit}"))
    return ", ".join(cells)


def gains(study, slow, fast):
    """Time saved by one way over the other, BERT-large, and the speed-up."""
    cells = []
    for topology in ("localGPUs", *FALCON):
        a, b = (study.mean(sample_s, "bert_large", topology, **spec) for spec in (slow, fast))
        if a and b:
            cells.append(shown(b, f"{topology} {100 * (1 - b[0] / a[0]):.0f} % less time, {a[0] / b[0]:.2f} times as fast"))
    return ", ".join(cells)


def storage_gains(study):
    cells = []
    for model in MODELS:
        base = study.mean(sample_s, model, "localGPUs")
        for storage in ("localNVMe", "falconNVMe"):
            time = study.mean(sample_s, model, "localGPUs", storage)
            if base and time:
                cells.append(shown(time, f"{model} {storage} {100 * (time[0] / base[0] - 1):+.1f} %"))
    return ", ".join(cells)


def link_ratio(links, other):
    """Both-ways bandwidth of L-L pairs over that of another class."""
    found = {}
    for one in (links or {}).get("classes") or []:
        both = (one.get("peer_to_peer") or {}).get("both_bytes_per_s") or {}
        if both.get("median"):
            found.setdefault(one["name"].split(" ")[0], []).append(both["median"])
    if "L-L" not in found or other not in found:
        return ""
    mean = {name: sum(rates) / len(rates) for name, rates in found.items()}
    return f"{mean['L-L'] / mean[other]:.2f} times ({mean['L-L'] / 1e9:.1f} and {mean[other] / 1e9:.1f} GB/s)"


def parameters(study):
    """Of the networks in their own size, from any run."""
    found = {}
    for report in study.reports:
        number = ((report.get("training") or {}).get("model") or {}).get("parameters")
        options = report["spec"].get("model_options") or {}
        if number and not options.get("layers") and not options.get("hidden_size"):
            found[report["spec"]["model"]] = number
    if "bert_large" not in found or "resnet50" not in found:
        return ""
    large, small = found["bert_large"], found["resnet50"]
    return f"{large / 1e6:.0f} M, {large / small:.1f} times ResNet-50's {small / 1e6:.1f} M"


def overhead_by_size(study, topology="falconGPUs"):
    """Slowdowns in the order of the number of parameters."""
    cells = []
    for model in MODELS:
        size = study.mean(lambda report: ((report.get("training") or {}).get("model") or {}).get("parameters"), model, topology)
        cell = slowdowns(study, [model], (topology,))
        if size and cell:
            cells.append((size[0], f"{size[0] / 1e6:.1f} M: {cell}"))
    return ", ".join(cell for _, cell in sorted(cells))


def traffic_ratios(study):
    rates = {model: study.mean(chassis_traffic, model, "falconGPUs") for model in ("bert_large", "mobilenet_v2", "resnet50")}
    large = rates.pop("bert_large")
    return ", ".join(
        shown(rate, f"{large[0] / rate[0]:.1f} times {model}") for model, rate in rates.items() if large and rate and rate[0]
    )


def busy_dips(study):
    """GPU utilisation over a run: its mean and its lowest reading, and how many checkpoints fell into it."""
    lowest = of_gpus("gpu_busy_pct", "min")
    cells = []
    for model in MODELS:
        mean, low = study.mean(of_gpus("gpu_busy_pct"), model, "localGPUs"), study.mean(lowest, model, "localGPUs")
        if mean and low:
            saved = [len((report.get("training") or {}).get("checkpoints") or []) for report in study.chosen(model, "localGPUs")]
            cells.append(shown(mean, f"{model} mean {mean[0]:.0f} %, lowest {low[0]:.0f} %, {max(saved)} checkpoints"))
    return ", ".join(cells)


def batches(study):
    """Samples a GPU that ended well, with the memory that they took, of DDP and of sharded runs."""
    cells = []
    for strategy in ("ddp", "sharded"):
        for topology in ("localGPUs", *FALCON):
            for report in study.chosen("bert_large", topology, parallelism=strategy):
                peaks = [rank.get("gpu_memory_peak_bytes") for rank in report.get("ranks") or []]
                batch = (report.get("plan") or {}).get("global_batch", 0) / max(1, len(peaks))
                peak = f"{max(peaks) / 1e9:.1f} GB" if peaks and None not in peaks else "memory not known"
                emulated = (report.get("topology") or {}).get("emulated")
                cells.append(shown((batch, emulated), f"{strategy} {topology} {batch:.0f} a GPU, {peak}"))
    return ", ".join(dict.fromkeys(cells))


def claims(study, links):
    """(where in the paper, what it states, what was measured)."""
    traffic = {"topologies": ("falconGPUs",), "scale": 1e-9}
    on_host = {"topologies": ("localGPUs",)}
    yield "Table IV", "local pairs have almost 4 times the bandwidth of F-L pairs", link_ratio(links, "F-L")
    yield "Table IV", "and almost 3 times that of F-F pairs", link_ratio(links, "F-F")
    yield "Fig 9", "GPU utilisation drops periodically, at checkpoints and synchronisation", busy_dips(study)
    yield "Fig 9", "the BERTs use the GPUs more effectively than the others", values(study, of_gpus("sm_active_pct"), "% of SMs", **on_host)
    yield "Fig 10", "GPUs are more than 80 % busy everywhere, slightly more on Falcon", values(study, of_gpus("gpu_busy_pct"), "%")
    yield "Fig 10", "less time accessing memory on Falcon, most of all BERT", values(study, of_gpus("memory_busy_pct"), "%")
    yield "Fig 10", "BERT needs massive amounts of GPU memory", values(study, of_gpus("memory_used_bytes"), "GB", scale=1e-9, **on_host)
    yield "Fig 11", "MobileNetV2 and ResNet-50 lose less than 5 %", slowdowns(study, VISION[:2])
    yield "Fig 11", "all vision models lose less than 7 %", slowdowns(study, VISION)
    yield "Fig 11", "BERT-large takes almost twice the time on falconGPUs", slowdowns(study, ["bert_large"])
    yield "Fig 11", "BERT-base has an overhead (no number)", slowdowns(study, ["bert_base"])
    yield "Fig 11", "the overhead grows with the size of the model", overhead_by_size(study)
    yield "Fig 11", "BERT-large has 340 million parameters, 13 times ResNet-50's", parameters(study)
    yield "Fig 12", "BERT-large moves 76.43 GB/s over PCIe", values(study, chassis_traffic, "GB/s", ["bert_large"], **traffic)
    yield "Fig 12", "ResNet-50 moves 11.31 GB/s", values(study, chassis_traffic, "GB/s", ["resnet50"], **traffic)
    yield "Fig 12", "MobileNetV2 moves 4 GB/s", values(study, chassis_traffic, "GB/s", ["mobilenet_v2"], **traffic)
    yield "Fig 12", "BERT-large moves about 19 times what MobileNetV2 and 7 times what ResNet-50 moves", traffic_ratios(study)
    yield "Fig 13", "CPUs are not stressed; vision more than NLP", values(study, of_host("cpu_pct"), "%", **on_host)
    yield "Fig 14", "host memory is not stressed", values(study, of_host("memory_used_bytes"), "GB", scale=1e-9, **on_host)
    yield "Fig 16", "NVMe helps the large ones (BERT, YOLO); the switch costs little", storage_gains(study)
    yield "software", "mixed precision: more than 50 % gain, more than 70 % on Falcon", gains(study, {"precision": "fp32"}, {})
    yield "software", "DDP over DP: more than 80 % gain on local GPUs", gains(study, {"parallelism": "dp"}, {})
    yield "software", "sharding lets the batch grow from 6 to 10", batches(study)
    yield "software", "sharding, with a batch of 10 instead of 6: a further gain", gains(study, {}, {"parallelism": "sharded"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", metavar="REPORT_OR_DIR")
    parser.add_argument("--links", metavar="FILE", help="of falconbench links --json")
    parser.add_argument("--predict-on", metavar="SYSTEM_FILE", help="a machine whose links are declared there")
    given = parser.parse_args()
    files = [
        file for word in given.reports for file in (sorted(glob.glob(f"{word}/*.json")) if os.path.isdir(word) else [word])
    ]
    reports = [json.load(open(file, encoding="utf-8")) for file in files]
    links = json.load(open(given.links, encoding="utf-8")) if given.links else None
    study = Study(reports)
    print(f"{len(reports)} reports, {len(study.reports)} ended well\n")
    print("| paper | states | measured |\n|---|---|---|")
    for where, statement, measured in claims(study, links):
        print(f"| {where} | {statement} | {measured or 'not measured'} |")
    if given.predict_on:
        print("", *paper_prediction.table(files, reports, given.predict_on, given.links), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
