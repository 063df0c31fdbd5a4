"""Sweeps over a stand-in for falconbench, in a folder of their own."""

import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE.parent.parent / "scripts"
STAND_IN = str(HERE / "fake_falconbench.sh")


class SweepCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.out = self.folder / "an output"
        self.calls_file = self.folder / "calls"
        self.environment = {**os.environ, "FALCONBENCH": STAND_IN, "FAKE_CALLS": str(self.calls_file)}

    def start(self, *arguments, **options):
        return subprocess.Popen(
            [SCRIPTS / "sweep.sh", "--output-dir", self.out, *arguments],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def sweep(self, *arguments):
        """(exit code, stdout, stderr)."""
        process = self.start(*arguments)
        stdout, stderr = process.communicate(timeout=60)
        return process.returncode, stdout, stderr

    def calls(self):
        """Arguments of the runs since the last call."""
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        self.calls_file.unlink(missing_ok=True)
        return lines
