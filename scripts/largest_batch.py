"""The work of scripts/largest_batch.sh: for each strategy, the largest batch_size.per_gpu whose run ends well under
engine.memory_limit_gb, found by real runs: next is what the memory of the last that fits lets expect, or upwards in doubling
steps, or half-way between the last that fits and the first that does not. A run that ends for another reason than memory ends the search. The table goes to stdout, a line a
run to stderr. Exit codes: 0 found for all, 2 wrong arguments, 4 a run failed otherwise or nothing fits."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

USAGE, FAILED = 2, 4
PROGRAM = os.environ["FALCONBENCH"]
STRATEGIES = ("ddp", "sharded:1", "sharded:2", "sharded:3")
COLUMNS = ("parameter_bytes", "gradient_bytes", "master_bytes", "optimizer_bytes", "exchange_bytes")


class Fault(Exception):
    """A run that says nothing about memory."""


def setting_of(strategy):
    """sharded:2 -> parallelism={sharded: {stage: 2}}"""
    kind, _, stage = strategy.partition(":")
    return f"parallelism={{{kind}: {{stage: {stage}}}}}" if stage else f"parallelism={kind}"


def run(arguments, strategy, batch, folder):
    """The report of a run that fits, else None."""
    output = os.path.join(folder, "report.json")
    settings = [setting_of(strategy), f"batch_size.per_gpu={batch}", f"engine.memory_limit_gb={arguments.limit_gb:g}"]
    settings += [f"warmup_steps={arguments.warmup}", f"budget.steps={arguments.steps}", *arguments.set]
    command = [PROGRAM, "--quiet", "--output", output]
    command += ["--config", arguments.config] if arguments.config else []
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    report = {}
    if os.path.exists(output):
        with open(output) as file:
            report = json.load(file)
        os.remove(output)
    error = report.get("error") or {}
    fits = done.returncode == 0
    print(f"{strategy} batch {batch}: {'fits' if fits else error.get('kind', 'failed')}", file=sys.stderr, flush=True)
    if not fits and error.get("kind") != "out_of_memory":
        raise Fault(f"{strategy}, batch {batch}: exit {done.returncode}: {error.get('message') or done.stderr.strip()}")
    return report if fits else None


def expected(limit_gb, batch, report):
    """The batch that fills the memory, if all that a run does not hold for ever grows with the batch."""
    rank = max(report["ranks"], key=lambda one: one["gpu_memory_peak_bytes"] or 0)
    peak, held = rank["gpu_memory_peak_bytes"] or 0, sum(rank["memory"][name] or 0 for name in COLUMNS)
    return int(batch * (limit_gb * 1e9 - held) / (peak - held)) if peak > held else batch


def largest(arguments, strategy, start, folder):
    """(batch, its report): start is tried first."""
    best, report, too_large, step, batch = 0, None, None, 1, start
    while too_large is None or too_large - best > 1:
        tried = run(arguments, strategy, batch, folder)
        if tried:
            best, report = batch, tried
        else:
            too_large = batch
        guess = expected(arguments.limit_gb, best, report) if report else best
        if too_large is None:
            batch, step = (guess, 1) if guess > best + step else (best + step, step * 2)
        elif tried and best < guess < too_large:
            batch = guess
        else:
            batch = (best + too_large) // 2
    return best, report


def gigabytes(value):
    return "-" if value is None else f"{value / 1e9:.2f}"


def row(strategy, batch, report):
    rank = report["ranks"][0]
    rate = report["training"]["throughput"]["samples_per_s"]
    cells = [strategy, str(batch), f"{rate:.1f}", *(gigabytes(rank["memory"][name]) for name in COLUMNS)]
    return [*cells, gigabytes(rank["gpu_memory_peak_bytes"])]


def parsed(words):
    parser = argparse.ArgumentParser(
        prog="largest_batch.sh",
        description="Largest batch_size.per_gpu of each strategy under engine.memory_limit_gb, found by real runs.",
    )
    parser.add_argument("strategies", nargs="*", default=list(STRATEGIES), metavar="STRATEGY",
                        help=f"none, ddp or sharded:STAGE (default: {' '.join(STRATEGIES)})")  # fmt: skip
    parser.add_argument("--config", help="spec file of the runs")
    parser.add_argument("--limit-gb", type=float, default=16, help="engine.memory_limit_gb (default: 16)")
    parser.add_argument("--from", type=int, default=1, dest="start", help="batch to try first (default: 1)")
    parser.add_argument("--warmup", type=int, default=12, help="warmup_steps of a run (default: 12, for a graph)")
    parser.add_argument("--steps", type=int, default=3, help="budget.steps of a run (default: 3)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="setting of every run")
    arguments = parser.parse_args(words)
    if arguments.start < 1:
        parser.error("--from must be at least 1")
    if not arguments.config and not any(setting.startswith("model=") for setting in arguments.set):
        parser.error("give --config FILE or --set model=NAME")
    return arguments


def main(words):
    arguments = parsed(words)
    names = [name.removesuffix("_bytes") + " GB" for name in COLUMNS]
    rows = [["strategy", "batch per GPU", "samples/s", *names, "allocator peak GB"]]
    start = arguments.start
    with tempfile.TemporaryDirectory() as folder:
        for strategy in arguments.strategies:
            batch, report = largest(arguments, strategy, start, folder)
            if not report:
                raise Fault(f"{strategy}: not even a batch of 1 fits")
            rows.append(row(strategy, batch, report))
            start = batch
    print(f"largest batch under {arguments.limit_gb:g} GB a GPU")
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
        if cells is rows[0]:
            print("|" + "---|" * len(cells))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Fault as fault:
        print(f"largest_batch.sh: {fault}", file=sys.stderr)
        sys.exit(FAILED)
