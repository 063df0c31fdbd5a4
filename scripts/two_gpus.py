"""The work of scripts/two_gpus.sh: what two GPUs of this machine make of the paper's study, step by step, each with a bar.

  links     what the links carry, against what such links are seen at (and what --system expects)
  direct    every model on two GPUs at the paper's batch a GPU, over the links as they are
  staged    the same with one GPU playing a chassis GPU: what they exchange goes through host memory
  predict   the staged steps from the direct runs, and back, by falconbench predict
  weak      one GPU against two, at large batches
  sharded   BERT-large in the three stages
  largest   the largest batch of BERT-large that ddp and each stage have room for in 16 GB

Each step prints what it found as soon as it has it; the table at the end has each bar, the figure, and whether it is met.
Reports, a page and the table of the paper's claims are left in --output-dir; called again, what is there is not measured
again. Exit codes: 0 every bar met, 2 wrong arguments, 3 this host has no two GPUs, 4 a bar not met or a step not done."""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import sweep_time

USAGE, HOST, NOT_MET = 2, 3, 4
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ["FALCONBENCH"]
STOP_S = 20  # from the request to stop to the end of a run, with its report
RUN_S = 60  # one run, start and end included
# Each step about twice what two H200s take for it; all of them together end with --limit-s.
STEP_S = {"links": 60, "direct": 150, "staged": 150, "predict": 20, "weak": 240, "sharded": 90, "largest": 300, "page": 30}

MODELS = ("mobilenet_v2", "resnet50", "yolov5l", "bert_base", "bert_large")
LARGE_BATCHES = {"resnet50": 256, "mobilenet_v2": 256, "yolov5l": 32, "bert_large": 192, "bert_base": 192}
STAGES = ("sharded:1", "sharded:2", "sharded:3")
STATED = {"mobilenet_v2": "< 5 %", "resnet50": "< 5 %", "yolov5l": "< 7 %", "bert_base": "slower", "bert_large": "almost + 100 %"}
# Slowdown of a staged run at which the paper's main result is seen: the large model suffers, the small ones do not.
STAGED_BARS = {"bert_large": (0.5, None), "resnet50": (None, 0.1), "mobilenet_v2": (None, 0.1)}
PREDICTION_ERROR, WEAK_SCALING, LIMIT_GB = 0.10, 0.95, 16
BROKEN_LINKS = (
    "link_contents_wrong", "link_not_measured", "link_below_expected", "link_below_practical", "peer_access_blocked",
    "peer_access_ineffective", "nccl_fallback",
)  # fmt: skip


class NotDone(Exception):
    """Why a step gave no figure."""


def tell(text):
    print(text, flush=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def step_ms(report):
    return report["training"]["step_time_ms"]["mean"]


def rate(report):
    return report["training"]["throughput"]["samples_per_s"]


def percent(ratio):
    return f"{100 * ratio:+.1f} %"


def stop(child):
    """Tells the program, and after a while kills what it has started."""
    child.terminate()
    try:
        child.communicate(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        pass
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


class Machine:
    """Runs programs in the output folder, none of them past the time that is left."""

    def __init__(self, given):
        self.given = given
        self.folder = os.path.abspath(given.output_dir)
        self.end = time.monotonic() + given.limit_s
        self.rows = []  # (step, bar, figure, met)

    def path(self, *parts):
        path = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def run(self, command, limit_s, echo=True):
        """(exit code, stdout); stderr is shown as it comes. NotDone where the time is over."""
        left = min(limit_s, self.end - time.monotonic())
        if left < 1:
            raise NotDone(f"no time is left of {self.given.limit_s:g} s")
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=None if echo else subprocess.DEVNULL, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            stdout, _ = child.communicate(timeout=left)
            return child.returncode, stdout
        except subprocess.TimeoutExpired:
            stop(child)
            raise NotDone(f"not done within {left:.0f} s") from None
        except BaseException:
            stop(child)
            raise

    def row(self, step, bar, figure, met):
        self.rows.append((step, bar, figure, met))
        tell(f"  {'met' if met else 'NOT MET'}: {step}: {figure} (bar: {bar})")

    def write_spec(self, name, **spec):
        path = self.path("specs", f"{name}.json")
        common = {"budget": {"steps": self.given.steps}, "timeout_s": RUN_S}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**common, **spec}, file, indent=1)
        return path

    def sweep(self, folder, specs, *settings):
        """Reports that ended well, by file name; a point that did not is told by the sweep."""
        words = [word for setting in settings for word in ("--set", setting)]
        command = [f"{HERE}/sweep.sh", *specs, *words, "--output-dir", self.path(folder, ""), "--wait-gpu", "20"]
        self.run(command, STEP_S[folder])
        return self.reports(folder)

    def reports(self, folder):
        paths = [entry.path for entry in os.scandir(self.path(folder, "")) if entry.name.endswith(".json")]
        found = {path: read(path) for path in sorted(paths)}
        return {path: report for path, report in found.items() if report["run"].get("status") == "ok"}


def by_model(reports):
    return {report["spec"]["model"]: (path, report) for path, report in reports.items()}


def measure_links(machine):
    path = machine.path("links.json")
    system = ["--system", machine.given.system] if machine.given.system else []
    code, _ = machine.run([PROGRAM, "links", "--devices", "2", *system, "--output", path], STEP_S["links"])
    if code == HOST:
        raise SystemExit(HOST)
    links = read(path)
    if len(links["devices"]) < 2:
        tell("two_gpus.sh: this host has one GPU only")
        raise SystemExit(HOST)
    return links, code


def link_step(machine, links, code):
    broken = [finding["message"] for finding in links["findings"] if finding["id"] in BROKEN_LINKS]
    pair = links["pairs"][0]
    figures = [f"{pair['pair_class']} {(pair['peer_to_peer'].get('write_bytes_per_s') or 0) / 1e9:.1f} GB/s one way"]
    for series in links["collectives"]:
        if series["operation"] == "all_reduce" and series.get("bus_bytes_per_s"):
            way = "direct" if series["peer_to_peer"] else "staged"
            figures.append(f"all_reduce {way} {series['bus_bytes_per_s'] / 1e9:.1f} GB/s")
    bar = "as such links are seen elsewhere" + (", and as --system expects" if machine.given.system else "")
    machine.row("links", bar, ", ".join([*figures, *broken]), code == 0 and not broken)


def write_systems(machine, links):
    """Two descriptions of the two GPUs: as they are, and one of them playing a GPU of a chassis."""
    gpus = {
        f"gpu{device['index']}": {key: device[key] for key in ("uuid", "pci_address") if device.get(key)}
        for device in links["devices"][:2]
    }
    chassis = {"attach": "falcon", "chassis": "emulated", "drawer": 1, "emulated": True}
    paths = []
    for name, last in (("direct", {}), ("staged", chassis)):
        paths.append(machine.path("specs", f"system-{name}.json"))
        system = {"gpus": {**gpus, "gpu1": {**gpus["gpu1"], **last}}}
        if last:
            system["chassis"] = {"emulated": {"model": "none: emulated"}}
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(system, file, indent=1)
    return paths


def direct_step(machine, system):
    spec = machine.write_spec("direct", system=system, topology="localGPUs", parallelism="ddp")
    reports = machine.sweep("direct", [spec], f"model={','.join(MODELS)}")
    found = by_model(reports)
    verdicts = {report["topology"]["verdict"] for _, report in found.values()}
    figure = ", ".join(f"{model} {rate(report):.5g}" for model, (_, report) in found.items())
    figure = f"{figure} samples/s, topology {', '.join(sorted(verdicts))}"
    met = len(found) == len(MODELS) and "mismatched" not in verdicts
    machine.row("direct", "all five models run, topology not mismatched", figure, met)
    return found


def staged_step(machine, system, direct):
    emulate = {"falcon_link": "host_staged"}
    spec = machine.write_spec("staged", system=system, topology="hybridGPUs", parallelism="ddp", emulate=emulate)
    found = by_model(machine.sweep("staged", [spec], f"model={','.join(MODELS)}"))
    whole = [
        model
        for model, (_, report) in found.items()
        if report["topology"]["emulated"] and not any(one["severity"] == "invalid" for one in report["findings"])
    ]
    tell("\n  | model | batch a GPU | direct, ms a step | staged, ms a step | slowdown (emulated) | the paper, in a chassis |")
    tell("  |---|---|---|---|---|---|")
    slowdowns = {}
    for model in MODELS:
        if model in direct and model in found:
            before, after = direct[model][1], found[model][1]
            slowdowns[model] = step_ms(after) / step_ms(before) - 1
            batch = before["plan"]["global_batch"] // 2
            tell(f"  | {model} | {batch} | {step_ms(before):.4g} | {step_ms(after):.4g} | {percent(slowdowns[model])} | {STATED[model]} |")
    tell("")
    machine.row("staged", "all five models run, staged as NCCL's log says", f"{len(whole)} of {len(MODELS)}", len(whole) == len(MODELS))
    for model, (least, most) in STAGED_BARS.items():
        bar = f"at least {percent(least)}" if least is not None else f"below {percent(most)}"
        loss = slowdowns.get(model)
        met = loss is not None and (least is None or loss >= least) and (most is None or loss < most)
        machine.row(f"slowdown of {model}", bar, "not measured" if loss is None else f"{percent(loss)} (emulated)", met)
    return found


def predict_step(machine, direct, staged):
    """Both ways between two measured steps of each model."""
    for name, source, target, on, topology in (
        ("direct to staged", direct, staged, "all", "host_staged"),
        ("staged to direct", staged, direct, "host_staged", "all"),
    ):
        errors = {}
        for model in MODELS:
            if model in source and model in target:
                command = [PROGRAM, "predict", "--report", source[model][0], "--links", machine.path("links.json")]
                command += ["--topology", topology, "--measured-on", on, "--devices", "2", "--json"]
                code, stdout = machine.run(command, STEP_S["predict"])
                if code == 0:
                    errors[model] = json.loads(stdout)["step_ms"] / step_ms(target[model][1]) - 1
        figure = ", ".join(f"{model} {percent(error)}" for model, error in errors.items()) or "not predicted"
        met = len(errors) == len(MODELS) and all(abs(error) <= PREDICTION_ERROR for error in errors.values())
        machine.row(f"predict {name}", f"within {100 * PREDICTION_ERROR:.0f} % of the measured step", figure, met)


def weak_step(machine, system):
    specs = [
        machine.write_spec(f"weak-{model}", system=system, topology="localGPUs", model=model, batch_size={"per_gpu": batch})
        for model, batch in LARGE_BATCHES.items()
    ]
    rates = {}
    for report in machine.sweep("weak", specs, "devices=1,2").values():
        rates[report["spec"]["model"], len(report["ranks"])] = rate(report)
    for model, batch in LARGE_BATCHES.items():
        one, two = rates.get((model, 1)), rates.get((model, 2))
        share = two / (2 * one) if one and two else None
        figure = f"{100 * share:.1f} % ({one:.5g}, {two:.5g} samples/s)" if share else "not measured"
        bar = f"at least {100 * WEAK_SCALING:.0f} %"
        machine.row(f"weak scaling of {model}, {batch} a GPU", bar, figure, bool(share and share >= WEAK_SCALING))


def setting_of(strategy):
    return f"{{sharded: {{stage: {strategy.partition(':')[2]}}}}}"


def sharded_step(machine, system):
    spec = machine.write_spec("sharded", system=system, topology="localGPUs", model="bert_large")
    reports = machine.sweep("sharded", [spec], "parallelism=" + ",".join(map(setting_of, STAGES)))
    rows = []
    for report in reports.values():
        stage, peak = report["spec"]["parallelism"]["sharded"]["stage"], max(r["gpu_memory_peak_bytes"] for r in report["ranks"])
        rows.append(f"stage {stage} {rate(report):.4g} samples/s, {peak / 1e9:.2f} GB")
    machine.row("sharded", "BERT-large runs in each stage", "; ".join(rows) or "not measured", len(rows) == len(STAGES))


def largest_step(machine, system):
    spec = machine.write_spec("largest", system=system, topology="localGPUs", model="bert_large")
    command = [f"{HERE}/largest_batch.sh", "--config", spec, "--limit-gb", str(LIMIT_GB), "--from", str(machine.given.start)]
    code, stdout = machine.run([*command, "ddp", *STAGES], STEP_S["largest"])
    tell(stdout)
    found = {}
    for line in stdout.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "ddp" or cells[0].startswith("sharded"):
            found[cells[0]] = int(cells[1])
    batches = list(found.values())
    rises = code == 0 and len(batches) == 1 + len(STAGES) and all(a < b for a, b in zip(batches, batches[1:]))
    figure = ", ".join(f"{name} {batch}" for name, batch in found.items()) or "not measured"
    machine.row(f"largest batch in {LIMIT_GB} GB", "larger with each stage (the paper: 6, sharded 10)", figure, rises)


def leave_page(machine):
    """What a reader wants to see: the page, and the paper's claims."""
    folders = [machine.path(name, "") for name in ("direct", "staged", "sharded")]
    folders = [folder for folder in folders if machine.reports(os.path.basename(folder.rstrip("/")))]
    if not folders:
        return
    links = ["--links", machine.path("links.json")]
    machine.run([PROGRAM, "report", *folders, *links, "--html", machine.path("page.html")], STEP_S["page"])
    code, table = machine.run([sys.executable, "-B", f"{HERE}/paper_claims.py", *folders, *links], STEP_S["page"])
    if code == 0:
        with open(machine.path("claims.md"), "w", encoding="utf-8") as file:
            file.write(table)
    tell(f"page.html and claims.md are in {machine.folder}")


def attempt(machine, name, step, *arguments):
    """What the step returns; {} where it was not done, which is a row."""
    began = time.monotonic()
    tell(f"\n{name}")
    try:
        found = step(machine, *arguments)
        tell(f"  ({sweep_time.text_of(time.monotonic() - began)})")
        return found
    except NotDone as why:
        machine.row(name, "done in time", str(why), False)
        return {}


def parsed(words):
    parser = argparse.ArgumentParser(
        prog="two_gpus.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--system", help="a system file: its expected figures of links are held against those measured")
    parser.add_argument("--output-dir", default="reports/two-gpus", metavar="DIR", help="(default: %(default)s)")
    parser.add_argument("--limit-s", type=float, default=720, metavar="S", help="for all of it (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=60, metavar="N", help="measured steps of a run (default: %(default)s)")
    parser.add_argument("--from", type=int, default=20, dest="start", metavar="N", help="first batch of the search (default: %(default)s)")
    return parser.parse_args(words)


def main(words):
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    machine = Machine(parsed(words))
    tell("links")
    try:
        links, code = measure_links(machine)
    except NotDone as why:
        tell(f"two_gpus.sh: links: {why}")
        return NOT_MET
    link_step(machine, links, code)
    direct_system, staged_system = write_systems(machine, links)
    direct = attempt(machine, "direct", direct_step, direct_system)
    staged = attempt(machine, "staged", staged_step, staged_system, direct)
    attempt(machine, "predict", predict_step, direct, staged)
    attempt(machine, "weak", weak_step, direct_system)
    attempt(machine, "sharded", sharded_step, direct_system)
    attempt(machine, "largest", largest_step, direct_system)
    attempt(machine, "page", leave_page)
    tell("\n| step | bar | figure | met |\n|---|---|---|---|")
    for step, bar, figure, met in machine.rows:
        tell(f"| {step} | {bar} | {figure} | {'yes' if met else 'no'} |")
    return 0 if all(met for *_, met in machine.rows) else NOT_MET


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
