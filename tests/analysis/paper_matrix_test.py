"""The paper's whole matrix, planned on the paper's machine: every point can run, each with an estimate."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class PaperMatrixTest(unittest.TestCase):
    def test_every_point_plans_on_the_paper_s_machine(self):
        done = subprocess.run(
            [
                ROOT / "scripts/sweep.sh",
                *sorted((ROOT / "configs/paper").glob("*.yaml")),
                "--dry-run",
                "--host",
                ROOT / "tests/data/machines/paper-falcon4016",
                "--set",
                f"system={ROOT / 'configs/systems/paper-falcon4016.yaml'}",
            ],
            env={**os.environ, "FALCONBENCH": os.environ["FALCONBENCH_PROGRAM"]},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = done.stdout.splitlines()
        matrix = [line for line in lines if not re.search(r"precision=|parallelism=", line)]
        self.assertEqual(len(matrix), 5 * 5, done.stdout)
        self.assertEqual(len(lines) - len(matrix), 3 * 3, "the software study of BERT-large")
        for line in lines:
            self.assertRegex(line, r": to run, about .* by public V100 rates")
        self.assertRegex(done.stderr, r"34 points, about \d+ h")


if __name__ == "__main__":
    unittest.main()
