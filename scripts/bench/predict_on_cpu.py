"""Runs small networks on two CPU workers over a loopback shaped by tc to several speeds, measures each speed with
`falconbench links`, predicts every run's step on the others, and the step with all-reduce from the one without.
A Markdown table on stdout. Started by predict_on_cpu.sh, in a network namespace of its own."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.environ["FALCONBENCH"]
NO_EXCHANGE = "no exchange"
MODELS = {
    "resnet50": ["image_size=64", "batch_size.per_gpu=4", "optimizer.lr=0.001"],
    "mobilenet_v2": ["image_size=96", "batch_size.per_gpu=8", "optimizer.lr=0.001"],
    "bert_base": ["model_options.layers=2", "sequence_length=64", "batch_size.per_gpu=4"],
}


def call(*words):
    done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"falconbench {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def shape(speed):
    """tbf on the loopback, which both directions share; full: as it is."""
    subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], capture_output=True, check=False)
    if speed != "full":
        words = ["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", speed, "burst", "1mb", "latency", "200ms"]
        subprocess.run(words, check=True)


def train(folder, name, model, steps, *more):
    path = os.path.join(folder, f"{name}.json")
    settings = [f"model={model}", "topology=cpu", "devices=2", f"budget.steps={steps}", "warmup_steps=5", *MODELS[model], *more]
    call("--quiet", "--output", path, *[word for setting in settings for word in ("--set", setting)])
    with open(path, encoding="utf-8") as file:
        return path, json.load(file)["training"]


def predict(source, own_links, links):
    words = ["--report", source, "--measured-links", own_links, "--links", links, "--topology", "all", "--json"]
    return json.loads(call("predict", *words))


def figure(training, name):
    return (training["communication"].get(f"{name}_ms") or 0) if name != "step" else training["step_time_ms"]["mean"]


def row(model, source, target, training, prediction):
    """Step, exchange and its exposed part, measured against predicted. Returns the error of the step."""
    cells = []
    for name, key in (("step", "step_ms"), ("busy", "communication_ms"), ("exposed", "exposed_ms")):
        cells.append(f"{figure(training, name):.0f}, {prediction[key]:.0f}")
    measured, low, high = figure(training, "step"), prediction["step_low_ms"], prediction["step_high_ms"]
    inside = "in" if low <= measured <= high else "out of"
    print(f"| {model} | {source} | {target} | {' | '.join(cells)} | {low:.0f} to {high:.0f}, {inside} it |", flush=True)
    return abs(prediction["step_ms"] / measured - 1)


def measure_links(folder, speed):
    path = os.path.join(folder, f"links-{speed}.json")
    call("links", "--topology", "cpu", "--quiet", "--output", path)
    with open(path, encoding="utf-8") as file:
        bus = next(one["bus_bytes_per_s"] for one in json.load(file)["collectives"] if one["operation"] == "all_reduce")
    return bus, path


def measure(folder, speeds, models, given):
    """links of each speed, and (path, training section) of the reports by model and speed; NO_EXCHANGE is a speed, too. Of the rounds the fastest
    counts: other work on the machine only ever takes time."""
    links, runs = {}, {}
    for number in range(given.rounds):
        for speed in [*speeds, NO_EXCHANGE]:
            shape("full" if speed == NO_EXCHANGE else speed)
            place = os.path.join(folder, str(number))
            os.makedirs(place, exist_ok=True)
            if speed != NO_EXCHANGE:
                links[speed] = max(links.get(speed, (0, "")), measure_links(place, speed))
            for model in models:
                more = ["engine.allreduce=off"] if speed == NO_EXCHANGE else []
                path, training = train(place, f"{model}-{speed}", model, given.steps, *more)
                step = figure(training, "step")
                print(f"round {number + 1}: {model}, {speed}: {step:.4g} ms", file=sys.stderr, flush=True)
                if (model, speed) not in runs or step < figure(runs[model, speed][1], "step"):
                    runs[model, speed] = (path, training)
    for speed, (bus, _) in links.items():
        print(f"all_reduce at {speed}: {bus / 1e9:.3f} GB/s")
    return {speed: path for speed, (_, path) in links.items()}, runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speeds", default="full,2gbit", help="as tc writes them (default: %(default)s)")
    parser.add_argument("--models", default=",".join(MODELS), help="(default: %(default)s)")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3, help="the fastest counts (default: %(default)s)")
    parser.add_argument("--keep", metavar="DIR", help="leave the reports there")
    given = parser.parse_args()
    speeds, models = given.speeds.split(","), given.models.split(",")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or scratch
        links, runs = measure(folder, speeds, models, given)
        print("\nms a step, measured and predicted:\n")
        print("| model | predicted from | for | step | exchange | exposed | band of the step |")
        print("|---|---|---|---|---|---|---|")
        errors = []
        for model in models:
            for source in [*speeds, NO_EXCHANGE]:
                for target in speeds:
                    if source != target:
                        own = links.get(source, links[target])
                        found = predict(runs[model, source][0], own, links[target])
                        errors.append(row(model, source, target, runs[model, target][1], found))
    print(f"\nsteps: median error {100 * statistics.median(errors):.1f} %, largest {100 * max(errors):.1f} %")


if __name__ == "__main__":
    main()
