"""Runs of the real program in a folder of their own: small networks on the CPU."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("FALCONBENCH_PROGRAM", str(ROOT / "build/bin/falconbench"))
LONG_S = 240  # nothing here may take longer, on a busy machine too

# Eight pictures a step: batch normalisation over fewer values of a 32-pixel picture is unstable.
SPEC = {
    "model": "mobilenet_v2",
    "image_size": 32,
    "topology": "cpu",
    "devices": 1,
    "data": {"format": "synthetic", "samples": 64},
    "batch_size": {"per_gpu": 8},
    "warmup_steps": 0,
    "budget": {"steps": 4},
    "optimizer": {"lr": 0.001},
}


class Done:
    """A command that ended."""

    def __init__(self, code, stdout, stderr, seconds):
        self.code, self.stdout, self.stderr, self.seconds = code, stdout, stderr, seconds

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.stdout}\nstderr: {self.stderr}"


def refuse_constant(constant):
    raise ValueError(f"{constant} is no JSON")


def parse(text):
    """Strict JSON: no NaN, no Infinity."""
    return json.loads(text, parse_constant=refuse_constant)


def processes():
    """(pid, parent, state, command line) of every process that is there."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        except OSError:
            continue
        found.append((int(entry.name), int(fields[1]), fields[0], words))
    return found


def workers_of(pid):
    """Pids of the ranks that a launcher has started, in the order of their start."""
    return sorted(
        p
        for p, parent, state, words in processes()
        if parent == pid and state != "Z" and words[1:2] == ["worker"] and "--probe" not in words
    )


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {seconds} s: {what}")


class Running:
    """A run in progress. Its output goes to files, so that nobody has to read pipes."""

    def __init__(self, folder, arguments, environment, number):
        self.stdout_path = folder / f"stdout{number}"
        self.stderr_path = folder / f"stderr{number}"
        self.began = time.monotonic()
        with open(self.stdout_path, "wb") as out, open(self.stderr_path, "wb") as err:
            # a session of its own: signals to the group are what a terminal sends
            self.process = subprocess.Popen(
                [PROGRAM, *arguments],
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self.pid = self.process.pid

    def stderr(self):
        return self.stderr_path.read_text(errors="replace")

    def workers(self, count):
        """Pids of the ranks, once all are there."""

        def all_there():
            self.fail_if_over()
            pids = workers_of(self.pid)
            return pids if len(pids) == count else None

        return wait_until(all_there, LONG_S, f"{count} workers")

    def fail_if_over(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the run ended early: exit {self.process.returncode}\n{self.stderr()}")

    def wait_for(self, text):
        def is_told():
            self.fail_if_over()
            return text in self.stderr()

        wait_until(is_told, LONG_S, f"{text!r} on stderr: {self.stderr()}")

    def wait_measuring(self):
        """Until some steps are measured; needs warmup_steps 0: the first progress line comes at once."""
        self.wait_for("measuring step")

    def end(self, seconds=LONG_S):
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s: {self.stderr()}") from None
        return Done(code, self.stdout_path.read_text(), self.stderr(), time.monotonic() - self.began)

    def kill_all(self):
        pids = workers_of(self.pid)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class RunTest(unittest.TestCase):
    """Each test has an empty folder, which is also where the program runs."""

    longMessage = True
    maxDiff = 2000

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve()
        self.number = 0

    def write_spec(self, name="run.json", **changes):
        """SPEC with other values at the top level; None leaves a key out."""
        spec = {key: value for key, value in {**SPEC, **changes}.items() if value is not None}
        (self.folder / name).write_text(json.dumps(spec))
        return name

    def start(self, *arguments, **environment):
        self.number += 1
        running = Running(self.folder, arguments, environment, self.number)
        self.addCleanup(running.kill_all)
        return running

    def run_program(self, *arguments, **environment):
        return self.start(*arguments, **environment).end()

    def ok(self, *arguments, **environment):
        done = self.run_program(*arguments, **environment)
        self.assertEqual(done.code, 0, done)
        return done

    def report(self, name="out.json"):
        return parse((self.folder / name).read_text())

    def plan(self, *settings, config=None):
        """The plan of --dry-run --json; settings are key=VALUE."""
        words = ["--config", config] if config else []
        for setting in settings:
            words += ["--set", setting]
        return parse(self.ok(*words, "--dry-run", "--json").stdout)

    def trained(self, name, **changes):
        """The report of a run with these changes of SPEC."""
        done = self.run_program("--config", self.write_spec(f"{name}.json", **changes), "--output", f"out/{name}.json")
        self.assertEqual(done.code, 0, done)
        return self.report(f"out/{name}.json")

    def make_pictures(self, name, *options):
        self.ok("data", "make", "imagefolder", name, *options)
        return self.folder / name

    def assert_valid(self, report, kind="report"):
        """By a validator that is not ours, with the schema of this kind of document."""
        try:
            import jsonschema
        except ImportError:
            packages = sorted((ROOT / ".venv/lib").glob("python3*/site-packages"))
            if not packages:
                self.skipTest("no jsonschema here: scripts/setup.sh installs it")
            sys.path += [str(path) for path in packages]
            import jsonschema
        schema = json.loads((ROOT / "schemas" / f"{kind}.schema.json").read_text())
        errors = [
            f"{error.json_path}: {error.message[:200]}"
            for error in jsonschema.Draft202012Validator(schema).iter_errors(report)
        ]
        self.assertEqual(errors, [])
        self.assert_reasons(report, "$")

    def assert_reasons(self, value, place):
        """Every null has a sibling that says why."""
        if isinstance(value, dict):
            for key, item in value.items():
                if item is None:
                    self.assertTrue(value.get(f"{key}_reason"), f"{place}.{key} is null without a reason")
                self.assert_reasons(item, f"{place}.{key}")
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self.assert_reasons(item, f"{place}[{index}]")
