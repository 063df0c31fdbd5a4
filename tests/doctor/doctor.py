"""The program's doctor on machines of tests/data/machines, and what index.json says of them."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("FALCONBENCH_PROGRAM", str(ROOT / "build/bin/falconbench"))
MACHINES = ROOT / "tests/data/machines"
INDEX = json.loads((MACHINES / "index.json").read_text())["machines"]


def refuse_constant(constant):
    raise ValueError(f"{constant} is no JSON")


def run(*words):
    return subprocess.run([PROGRAM, "doctor", *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


def answers(path):
    """What doctor says of a file or folder; it must be readable."""
    done = run("--from", path, "--json")
    if done.returncode != 0:
        raise AssertionError(f"{path}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout, parse_constant=refuse_constant)


def files_of(machine):
    return sorted(path for path in (MACHINES / machine).iterdir() if path.is_file())


class DoctorTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="falcon-doctor-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def copy(self, machine, name="machine"):
        """A copy of a machine's folder that may be changed."""
        target = self.folder / name
        shutil.copytree(MACHINES / machine, target)
        return target
