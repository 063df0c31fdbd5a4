"""The work of scripts/sweep.sh: one falconbench run for each point of a grid, resumable, with an index and a summary.

Lists of --set make a grid; --and begins another grid over the same files. Without a list a file has the grids of
sweep.txt beside it, where there is one, and --set with one value goes to every point. A point whose report is there,
with status ok and the hash of the spec as it is now, is not run again. A point that fails is noted and the sweep goes
on. In the output folder *.json are reports only; index.jsonl (one line a point), summary.md and one .log a point stand
beside. Exit codes: 0 all points ok, 2 the sweep itself is wrong, 3 (--dry-run only) this host cannot run some points,
4 some points are not ok, 8 the folder is not writable, 130 or 143 interrupted (the current run is told, and ends with
its report)."""

import argparse
import ctypes
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import sweep_time
from sweep_points import Fault, ordered, points_of, axes_of, repeated

USAGE, HOST, FAILED, NOT_WRITABLE = 2, 3, 4, 8
PROGRAM = os.environ["FALCONBENCH"]
LOCK_WAIT_S = 20  # a run whose sweep was killed ends within this time
GPU_LOOK_S = 5  # between two looks at a GPU that is in use
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


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


def resolve(point, *more):
    """(exit code, plan or None, message) of the spec as it is now; nothing is started for it."""
    done = subprocess.run(
        command_of(point, "--dry-run", "--json", *more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        start_new_session=True,
        check=False,
    )
    try:
        plan = json.loads(done.stdout)
        return done.returncode, plan if isinstance(plan, dict) and "spec_hash" in plan else None, ""
    except ValueError:
        return done.returncode, None, done.stderr.strip()


def gpus_in_use(plan):
    """What the plan says of GPUs that others hold, or nothing."""
    found = [finding for finding in (plan or {}).get("findings") or [] if finding.get("id") == "gpu_in_use"]
    return "; ".join(finding.get("message") or "a GPU is in use" for finding in found)


def facts_of(report):
    """What the index and the summary say of a report."""
    training = report.get("training") or {}
    error = report.get("error") or {}
    return {
        "status": report["run"].get("status"),
        "spec_hash": report["run"].get("spec_hash"),
        "samples_per_s": (training.get("throughput") or {}).get("samples_per_s"),
        "step_time_p50_ms": (training.get("step_time_ms") or {}).get("p50"),
        "duration_s": report["run"].get("duration_s"),
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

    def __init__(self, lock=None):
        self.child, self.stopped_by, self.lock = None, None, lock
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.stop)

    def stop(self, number, _frame):
        self.stopped_by = number
        if self.child and self.child.poll() is None:
            self.child.send_signal(number)

    def run(self, command, log_path):
        """The exit code, as a shell counts it."""
        with open(log_path, "w", encoding="utf-8") as log:
            # The run holds the folder's lock, too, and is told when this process is killed: a sweep that goes on after
            # that does not meet it.
            self.child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=() if self.lock is None else (self.lock,),
                preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
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


def wait_for_gpus(point, plan, runner, wait_s):
    """The message when others still hold the GPUs after so many seconds."""
    end = time.monotonic() + wait_s
    while (message := gpus_in_use(plan)) and not runner.stopped_by:
        left = end - time.monotonic()
        if left <= 0:
            return message
        tell(f"{point['name']}: {message}; looking again for {sweep_time.text_of(left)}")
        time.sleep(min(GPU_LOOK_S, left))
        plan = resolve(point)[1]
    return ""


def run_point(point, folder, runner, wait_s):
    """Runs the point where that is needed, and fills in what became of it."""
    code, plan, message = resolve(point)
    if runner.stopped_by:
        return
    if report := finished_report(folder, point, (plan or {}).get("spec_hash")):
        point.update(facts_of(report), exit_code=0, resumed=True, report=point["name"] + ".json")
        return
    if code == USAGE:
        point.update(status="refused", exit_code=code, message=message)
        return
    if message := wait_for_gpus(point, plan, runner, wait_s):
        point.update(status="not run", message=message)
        return
    if runner.stopped_by:
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


def run_all(points, folder, runner, wait_s):
    reports = [report for point in points if (report := read_report(path_of(folder, point, ".json")))]
    rates = sweep_time.rates_of(reports)
    clock = sweep_time.Clock((point["name"], estimated(point, folder, rates)[0]) for point in points)
    for number, point in enumerate(points, start=1):
        where = f"[{number}/{len(points)}] {point['name']}"
        tell(where)
        run_point(point, folder, runner, wait_s)
        clock.ended(point["name"], point.get("wall_s"))
        if "status" in point:
            rate = point.get("samples_per_s")
            left = clock.left()
            tell(
                f"{where}: {point['status']}"
                + (" already" if point.get("resumed") else "")
                + (f", {rate:.4g} samples/s" if rate else "")
                + (f": {one_line(point['message'])}" if point.get("message") else "")
                + (f" ({left})" if left else "")
            )
        write_index(points, folder)
        if runner.stopped_by:
            break


def estimated(point, folder, rates, plan=None):
    """(seconds or None, where from)."""
    report = read_report(path_of(folder, point, ".json"))
    if not report and not plan:
        plan = resolve(point)[1]
    return sweep_time.estimate(plan, report, rates)


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


def show_plan(points, folder, host):
    """Says of each point whether it is done, to run, or refused, and how long it may take; starts and writes nothing."""
    refused, cannot, total, unknown = False, False, 0.0, 0
    rates = sweep_time.rates_of(
        report for point in points if (report := read_report(path_of(folder, point, ".json"))) is not None
    )
    for point in points:
        code, plan, message = resolve(point, *(["--host", host] if host else []))
        refused = refused or code == USAGE
        if code == USAGE:
            state = f"refused: {one_line(message)}"
        elif finished_report(folder, point, (plan or {}).get("spec_hash")):
            state = "done"
        elif code != 0:
            cannot, state = True, f"cannot run here: {one_line(message)}"
        else:
            seconds, basis = estimated(point, folder, rates, plan)
            total, unknown = total + (seconds or 0), unknown + (seconds is None)
            state = f"to run, about {sweep_time.text_of(seconds)} by {basis}" if seconds else f"to run, how long is not known: {basis}"
        print(f"{point['name']}: {state}")
    tell(
        f"{len(points)} points, about {sweep_time.text_of(total)} to run"
        + (f" and {unknown} points of unknown length" if unknown else "")
    )
    return USAGE if refused else HOST if cannot else 0


def parse(words):
    """The arguments, and the grids: one for each stretch between --and."""
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
    parser.add_argument("--and", action="store_true", help="begins another grid: the --set that follow, alone")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="run each point so many times")
    parser.add_argument(
        "--order",
        default="least",
        metavar="ORDER",
        help="least (default): topology, storage and data change as seldom as can be; shuffled[:SEED]; given",
    )
    parser.add_argument("--wait-gpu", type=float, default=600, metavar="S", help="wait so long for GPUs in use")
    parser.add_argument("--output-dir", metavar="DIR", help="default: reports/sweep-<name of the first file>")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run, and how long it may take")
    parser.add_argument("--host", metavar="DIR", help="with --dry-run: plan for the machine that these files describe")
    stretches = [[]]
    for word in words:
        if word == "--and":
            stretches.append([])
        else:
            stretches[-1].append(word)
    given = parser.parse_intermixed_args(stretches[0])
    if given.host and not given.dry_run:
        raise Fault("--host plans for another machine: it goes with --dry-run")
    if given.repeats < 1:
        raise Fault("--repeats is at least 1")
    grids = [axes_of(given.settings)] if given.settings else []
    for stretch in stretches[1:]:
        more = parser.parse_intermixed_args([*stretch, given.files[0]])
        grids.append(axes_of(more.settings))
    return given, grids


def lock_of(folder):
    """Held until this process and the run that it started have ended."""
    os.makedirs(folder, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    end = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError as fault:
            if time.monotonic() > end:
                raise Fault(f"another sweep works in {folder}") from fault
            time.sleep(0.2)


def main():
    given, grids = parse(sys.argv[1:])
    stem = os.path.splitext(os.path.basename(given.files[0]))[0]
    folder = given.output_dir or os.path.join("reports", f"sweep-{stem}")
    points = ordered(repeated(points_of(given.files, grids), given.repeats), given.order)
    if not shutil.which(PROGRAM):
        raise Fault(f"{PROGRAM} is no program (FALCONBENCH names it)")
    if given.dry_run:
        return show_plan(points, folder, given.host)
    runner = Runner(lock_of(folder))
    run_all(points, folder, runner, given.wait_gpu)
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
