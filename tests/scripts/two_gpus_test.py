"""scripts/two_gpus.sh over a stand-in for falconbench whose steps and links are known."""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parent.parent / "scripts/two_gpus.sh"


class TwoGpusTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.out = self.folder / "an output"
        self.calls = self.folder / "calls"

    def check(self, *words, **world):
        """(exit code, stdout, rows of the last table by step)."""
        environment = {**os.environ, "FALCONBENCH": str(HERE / "fake_machine.py"), "FAKE_CALLS": str(self.calls)}
        done = subprocess.run(
            [SCRIPT, "--output-dir", self.out, *words],
            cwd=self.folder,
            env={**environment, "FAKE_WORLD": json.dumps(world)},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        lines = done.stdout.split("| step | bar |")[-1].splitlines()[2:]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        return done.returncode, done.stdout + done.stderr, {row[0]: row for row in rows}

    def runs(self):
        return [line for line in self.calls.read_text().splitlines() if "--output" in line and "links" not in line]

    def test_a_good_machine_meets_every_bar(self):
        code, text, rows = self.check()
        self.assertEqual(code, 0, text)
        self.assertEqual({row[-1] for row in rows.values()}, {"yes"}, rows)
        self.assertEqual(len(rows), 1 + 2 + 3 + 2 + 5 + 1 + 1)
        self.assertIn("| bert_large | 6 | 20 | 50 | +150.0 % | almost + 100 % |", text)
        self.assertEqual(rows["slowdown of bert_large"][2], "+150.0 % (emulated)")
        self.assertIn("bert_large +2.0 %", rows["predict direct to staged"][2])
        self.assertEqual(rows["weak scaling of resnet50, 256 a GPU"][2], "97.0 % (100, 194 samples/s)")
        self.assertEqual(rows["largest batch in 16 GB"][2], "ddp 20, sharded:1 22, sharded:2 24, sharded:3 26")
        # each result is there before the next step begins
        order = [text.index(word) for word in ("met: links", "| bert_large | 6 |", "met: predict direct", "met: weak", "met: largest")]
        self.assertEqual(order, sorted(order))
        staged = json.loads((self.out / "specs/system-staged.json").read_text())["gpus"]
        self.assertEqual([gpu.get("emulated") for gpu in staged.values()], [None, True])
        self.assertEqual(staged["gpu1"]["uuid"], "GPU-1")
        self.assertIn("bert_large hybridGPUs +150.0 % (emulated)", (self.out / "claims.md").read_text())

    def test_what_was_measured_is_not_measured_again(self):
        self.check()
        first = [line for line in self.runs() if "largest" not in line]
        self.calls.unlink()
        code, _, _ = self.check()
        self.assertEqual(code, 0)
        self.assertGreater(len(first), 20)
        self.assertEqual([line for line in self.runs() if "largest" not in line], [])

    def test_each_bar_that_is_not_met_is_said(self):
        world = {"finding": "link_below_practical", "failing": "yolov5l", "staged": 1.2, "error": 0.2, "scaling": 0.9, "gain": 0}
        code, text, rows = self.check(**world)
        self.assertEqual(code, 4, text)
        for step, figure in (
            ("links", "made finding"),
            ("direct", "bert_large"),
            ("slowdown of bert_large", "+20.0 % (emulated)"),
            ("predict staged to direct", "bert_large +20.0 %"),
            ("weak scaling of bert_base, 192 a GPU", "90.0 %"),
            ("largest batch in 16 GB", "sharded:1 20"),
        ):
            self.assertEqual(rows[step][-1], "no", rows)
            self.assertIn(figure, rows[step][2])
        self.assertEqual(rows["slowdown of resnet50"][-1], "yes")

    def test_a_step_that_hangs_ends_in_time_and_the_rest_is_done(self):
        began = time.monotonic()
        code, text, rows = self.check("--limit-s", "40", hanging="sharded")
        self.assertLess(time.monotonic() - began, 85)
        self.assertEqual(code, 4)
        self.assertIn("not done within", rows["sharded"][2])
        self.assertEqual(rows["direct"][-1], "yes")
        self.assertIn("no time is left", rows["largest"][2])

    def test_needs_two_gpus(self):
        code, text, _ = self.check(gpus=1)
        self.assertEqual(code, 3)
        self.assertIn("one GPU only", text)
        self.assertEqual(self.check(gpus=0)[0], 3)


if __name__ == "__main__":
    unittest.main()
