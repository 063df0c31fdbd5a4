"""The work of scripts/sweep.sh: one falconbench run for each point of a grid, resumable, with an index and a summary.

A point whose report is there, with status ok and the hash of the spec as it is now, is not run again. A point that
fails is noted and the sweep goes on. In the output folder *.json are reports only; index.jsonl (one line a point),
summary.md and one .log a point stand beside. Exit codes: 0 all points ok, 2 the sweep itself is wrong, 4 some points
are not ok, 8 the folder is not writable, 130 or 143 interrupted (the current run is told, and ends with its report)."""

import argparse
import fcntl
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

USAGE, FAILED, NOT_WRITABLE = 2, 4, 8
PROGRAM = os.environ["FALCONBENCH"]
CLOSING = {"[": "]", "{": "}", "(": ")"}


class Fault(Exception):
    """What is wrong with the sweep itself."""


def split_list(text):
    """The values between the commas that stand outside of brackets, braces and quotes."""
    values, start, expected, quote = [], 0, [], None
    for place, char in enumerate(text):
        if quote:
            quote = None if char == quote and (quote == "'" or text[place - 1] != "\\") else quote
        elif char in "'\"" and (place == start or text[place - 1] in " [{(,:"):
            quote = char  # an apostrophe inside a word opens nothing
        elif char in CLOSING:
            expected.append(CLOSING[char])
        elif expected and char == expected[-1]:
            expected.pop()
        elif char == "," and not expected:
            values.append(text[start:place])
            start = place + 1
    if quote or expected:
        raise Fault(f"'{text}' lacks a closing {quote or expected[-1]}")
    values = [value.strip() for value in [*values, text[start:]]]
    if "" in values:
        raise Fault(f"'{text}' has an empty value")
    return values


def axes_of(settings):
    """[(key, [value, ...])] of the --set arguments."""
    axes = []
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise Fault(f"--set '{setting}' is not key=value,value,...")
        if key in (known for known, _ in axes):
            raise Fault(f"--set {key} is given twice: list its values once, {key}=a,b")
        axes.append((key, split_list(text)))
    return axes


def name_of(file, settings):
    """A file name that says the settings; what had to be left out of it is told apart by a hash."""
    plain = "-".join([os.path.splitext(os.path.basename(file))[0], *(f"{key}={value}" for key, value in settings)])
    name = re.sub(r"[^A-Za-z0-9._=+-]+", "_", plain)[:120].lstrip(".")
    return name if name == plain else f"{name}-{digest(plain)}"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def points_of(files, axes):
    """One dict a point; files outermost, the last key fastest. Two files of the same name get a hash of their path."""
    points = []
    for file in files:
        if not os.path.isfile(file):
            raise Fault(f"{file}: no such file")
        for values in itertools.product(*(values for _, values in axes)):
            settings = list(zip((key for key, _ in axes), values))
            points.append({"name": name_of(file, settings), "file": file, "settings": dict(settings)})
    names = [point["name"] for point in points]
    for point in points:
        if names.count(point["name"]) > 1:
            point["name"] += "-" + digest(os.path.abspath(point["file"]) + repr(point["settings"]))
    if len({point["name"] for point in points}) < len(points):
        raise Fault("the same point occurs twice: a file or a value is listed twice")
    return points


def command_of(point, *more):
    settings = [word for key, value in point["settings"].items() for word in ("--set", f"{key}={value}")]
    return [PROGRAM, "--config", point["file"], *settings, *more]


def read_report(path):
    """The report, or None where there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        return report if isinstance(report, dict) and isinstance(report.get("run"), dict) else None
    except (OSError, ValueError):
        return None


def one_line(text):
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def resolved_hash(point):
    """(exit code, spec_hash, message) of the spec as it is now; nothing is started for it."""
    done = subprocess.run(
        command_of(point, "--dry-run", "--json"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        start_new_session=True,
        check=False,
    )
    try:
        return done.returncode, json.loads(done.stdout)["spec_hash"], ""
    except (ValueError, KeyError, TypeError):
        return done.returncode, None, done.stderr.strip()


def facts_of(report):
    """What the index and the summary say of a report."""
    training = report.get("training") or {}
    error = report.get("error") or {}
    return {
        "status": report["run"].get("status"),
        "spec_hash": report["run"].get("spec_hash"),
        "samples_per_s": (training.get("throughput") or {}).get("samples_per_s"),
        "step_time_p50_ms": (training.get("step_time_ms") or {}).get("p50"),
        "message": error.get("message") or "",
        "emulated": bool((report.get("topology") or {}).get("emulated")),
    }


def path_of(folder, point, ending):
    return os.path.join(folder, point["name"] + ending)


def finished_report(folder, point, spec_hash):
    """The report that makes running the point again needless, or None."""
    report = read_report(path_of(folder, point, ".json"))
    done = report and spec_hash and report["run"].get("status") == "ok" and report["run"].get("spec_hash") == spec_hash
    return report if done else None


class Runner:
    """Runs one program at a time and passes SIGINT and SIGTERM on to it, once for each time that they come: the program
    is in a session of its own, so that a terminal does not tell it a second time."""

    def __init__(self):
        self.child, self.stopped_by = None, None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)

    def stop(self, number, _frame):
        self.stopped_by = number
        if self.child and self.child.poll() is None:
            self.child.send_signal(number)

    def run(self, command, log_path):
        """The exit code, as a shell counts it."""
        with open(log_path, "w", encoding="utf-8") as log:
            self.child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
            if self.stopped_by:  # it came before there was a child to tell
                self.child.send_signal(self.stopped_by)
            code = self.child.wait()
        return code if code >= 0 else 128 - code


def file_identity(path):
    try:
        status = os.stat(path)
        return status.st_ino, status.st_mtime_ns
    except OSError:
        return None


def run_point(point, folder, runner):
    """Runs the point where that is needed, and fills in what became of it."""
    code, spec_hash, message = resolved_hash(point)
    if runner.stopped_by:
        return
    if report := finished_report(folder, point, spec_hash):
        point.update(facts_of(report), exit_code=0, resumed=True, report=point["name"] + ".json")
        return
    if code == USAGE:
        point.update(status="refused", exit_code=code, message=message)
        return
    report_path, log_path = path_of(folder, point, ".json"), path_of(folder, point, ".log")
    before, started = file_identity(report_path), time.monotonic()
    code = runner.run(command_of(point, "--output", report_path), log_path)
    point.update(
        status="failed", exit_code=code, wall_s=round(time.monotonic() - started, 3), log=point["name"] + ".log"
    )
    report = read_report(report_path) if file_identity(report_path) != before else None
    if report:
        point.update(facts_of(report), report=point["name"] + ".json")
    if code != 0 and point["status"] == "ok":
        point.update(status="failed", message=f"ended with exit code {code} although the report says ok")
    elif code == 0 and not report:
        point["message"] = "ended with exit code 0 but left no report"
    elif point["status"] != "ok" and not point.get("message"):
        with open(log_path, encoding="utf-8", errors="replace") as log:
            point["message"] = (log.read().strip().splitlines() or [""])[-1]


def run_all(points, folder, runner):
    for number, point in enumerate(points, start=1):
        where = f"[{number}/{len(points)}] {point['name']}"
        tell(where)
        run_point(point, folder, runner)
        if "status" in point:
            rate = point.get("samples_per_s")
            tell(
                f"{where}: {point['status']}"
                + (" already" if point.get("resumed") else "")
                + (f", {rate:.4g} samples/s" if rate else "")
                + (f": {one_line(point['message'])}" if point.get("message") else "")
            )
        write_index(points, folder)
        if runner.stopped_by:
            break


def write_index(points, folder):
    index = os.path.join(folder, "index.jsonl")
    names = {point["name"] for point in points}
    lines = [line for line in read_lines(index) if line.get("name") not in names]  # of other sweeps into this folder
    lines += [{"status": "not run", **point} for point in points]
    replace(index, "".join(json.dumps(line) + "\n" for line in lines))
    replace(os.path.join(folder, "summary.md"), summary_of(points))


def read_lines(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except OSError:
        return []
    except ValueError as fault:
        raise Fault(f"{path} is not an index of a sweep: {fault}") from fault


def replace(path, text):
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)


def summary_of(points):
    """The counts before the numbers: a table of a half-failed sweep must not look like a whole one."""
    count = {}
    for point in points:
        status = point.get("status", "not run")
        count[status] = count.get(status, 0) + 1
    keys = list(dict.fromkeys(key for point in points for key in point["settings"]))
    head = ["point", *keys, "status", "samples/s", "step p50 ms", "message"]
    rows = [head, ["---"] * len(head)]
    for point in points:
        numbers = [
            f"{value:.5g}" if isinstance(value, (int, float)) else ""
            for value in (point.get("samples_per_s"), point.get("step_time_p50_ms"))
        ]
        rows.append(
            [
                point["name"] + (" (emulated)" if point.get("emulated") else ""),
                *(point["settings"].get(key, "") for key in keys),
                point.get("status", "not run"),
                *numbers,
                one_line(point.get("message") or ""),
            ]
        )
    table = "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n" for row in rows)
    counts = ", ".join(f"{number} {status}" for status, number in count.items())
    return f"{len(points)} points: {counts}\n\n{table}"


def tell(text):
    print(text, file=sys.stderr, flush=True)


def show_plan(points, folder):
    """Says of each point whether it is done, to run, or refused; starts nothing and writes nothing."""
    refused = False
    for point in points:
        code, spec_hash, message = resolved_hash(point)
        refused = refused or code == USAGE
        if code == USAGE:
            state = f"refused: {message}"
        else:
            state = "done" if finished_report(folder, point, spec_hash) else "to run"
        print(f"{point['name']}: {state}")
    return USAGE if refused else 0


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/sweep.sh",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="spec of a run")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="key=a,b,c",
        help="values of a key; lists make a grid; a value with commas is written in brackets or quotes",
    )
    parser.add_argument("--output-dir", metavar="DIR", help="default: reports/sweep-<name of the first file>")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run")
    given = parser.parse_intermixed_args()
    stem = os.path.splitext(os.path.basename(given.files[0]))[0]
    folder = given.output_dir or os.path.join("reports", f"sweep-{stem}")
    points = points_of(given.files, axes_of(given.settings))
    if not shutil.which(PROGRAM):
        raise Fault(f"{PROGRAM} is no program (FALCONBENCH names it)")
    if given.dry_run:
        return show_plan(points, folder)
    try:
        os.makedirs(folder, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as fault:
        raise Fault(f"another sweep works in {folder}") from fault
    runner = Runner()
    run_all(points, folder, runner)
    sys.stdout.write(summary_of(points))
    tell(f"reports, index.jsonl and summary.md are in {folder}")
    if runner.stopped_by:
        return 128 + runner.stopped_by
    return 0 if all(point.get("status") == "ok" for point in points) else FAILED


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        tell(f"sweep: {fault}")
        sys.exit(USAGE)
    except OSError as fault:
        tell(f"sweep: {fault}")
        sys.exit(NOT_WRITABLE)
