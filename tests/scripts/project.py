"""A copy of the project's scripts in a folder of its own, with stand-ins for the programs that change the machine."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class ProjectTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.project = pathlib.Path(scratch.name).resolve() / "a project"
        self.programs = self.project / "programs"
        self.programs.mkdir(parents=True)
        for folder in ("scripts", "cmake"):
            shutil.copytree(ROOT / folder, self.project / folder)
        self.calls_file = self.project / "calls"
        self.environment = {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "HOME": scratch.name,
            "CUDA_HOME": str(self.project),
        }
        self.packages("build there cmd:bash")
        self.program("nvcc", 'echo "Cuda compilation tools, release 13.0"')
        # The machine's own torch must not be seen; everything else of python3 works.
        self.program("python3", f'[[ $1 != - ]] || exit 1\nexec "{sys.executable}" "$@"')
        self.libtorch = self.project / "libtorch"
        (self.libtorch / "torch/include/ATen").mkdir(parents=True)
        (self.libtorch / "torch/include/ATen/ATen.h").touch()

    def packages(self, *lines):
        (self.project / "scripts/packages.txt").write_text("".join(line + "\n" for line in lines))

    def program(self, name, body):
        """A program that stands before the machine's; `called` in its body notes the call."""
        path = self.programs / name
        called = f'called() {{ printf "%s\\n" "{name} $*" >> "{self.calls_file}"; }}'
        path.write_text(f"#!/bin/bash\nset -e\n{called}\n{body}\n")
        path.chmod(0o755)

    def calls(self):
        """The calls noted since the last look."""
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        self.calls_file.unlink(missing_ok=True)
        return lines

    def script(self, name, *arguments, **more):
        done = subprocess.run(
            [self.project / "scripts" / name, *arguments],
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr
