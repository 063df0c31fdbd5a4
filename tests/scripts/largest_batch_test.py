"""scripts/largest_batch.sh over a stand-in whose memory is known."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/largest_batch.sh"
# Strategy -> what fits in 16 GB; 17 GB hold one more.
FAKE = """#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
settings = dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "--set")
with open(os.environ["FAKE_CALLS"], "a") as file:
    print(settings["parallelism"], settings["batch_size.per_gpu"], file=file)
room = {"ddp": 5, "{sharded: {stage: 1}}": 9, "{sharded: {stage: 3}}": 0}[settings["parallelism"]]
room += int(settings["engine.memory_limit_gb"]) - 16
batch = int(settings["batch_size.per_gpu"])
peak = 15.5e9
if "grows" in settings:  # 5 GB, and as much a sample as is told
    peak = 5e9 + batch * float(settings["grows"])
    room = (float(settings["engine.memory_limit_gb"]) * 1e9 - 5e9) // float(settings["grows"])
fits = batch <= room
kind = settings.get("fails", "out_of_memory")
memory = {name + "_bytes": 10**9 for name in ("parameter", "gradient", "master", "optimizer", "exchange")}
report = {"error": None if fits else {"kind": kind, "message": "it " + kind},
          "ranks": [{"memory": memory, "gpu_memory_peak_bytes": peak}],
          "training": {"throughput": {"samples_per_s": 100.0}}}
with open(words[words.index("--output") + 1], "w") as file:
    json.dump(report, file)
sys.exit(0 if fits else 4)
"""


class LargestBatchTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.calls = self.folder / "calls"
        program = self.folder / "falconbench"
        program.write_text(FAKE)
        program.chmod(0o755)
        self.environment = {**os.environ, "FALCONBENCH": str(program), "FAKE_CALLS": str(self.calls)}

    def search(self, *arguments):
        """(exit code, stdout, stderr)."""
        command = [SCRIPT, "--set", "model=bert_large", *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_finds_the_last_that_fits(self):
        code, stdout, _ = self.search("ddp", "sharded:1")
        self.assertEqual(code, 0)
        rows = [line.split(" | ") for line in stdout.splitlines() if line.startswith("| ")]
        self.assertEqual([(row[0], row[1]) for row in rows[1:]], [("| ddp", "5"), ("| sharded:1", "9")])
        self.assertIn("15.50", rows[1][-1])
        tried = self.calls.read_text().splitlines()
        self.assertIn("ddp 6", tried)
        self.assertIn("{sharded: {stage: 1}} 10", tried)
        self.assertEqual(len(tried), len(set(tried)), "none twice")
        # the second search begins where the first one ended
        self.assertNotIn("{sharded: {stage: 1}} 1", tried)

    def test_expects_what_fits_from_the_memory_of_a_run(self):
        code, stdout, _ = self.search("--set", "grows=3e8", "ddp", "sharded:1")
        self.assertEqual(code, 0)
        self.assertIn("| ddp | 36 |", stdout)
        self.assertEqual(self.calls.read_text().splitlines()[:3], ["ddp 1", "ddp 36", "ddp 37"])

    def test_goes_down_from_a_start_that_is_too_large(self):
        code, stdout, _ = self.search("--from", "20", "--limit-gb", "17", "ddp")
        self.assertEqual(code, 0)
        self.assertIn("| ddp | 6 |", stdout)

    def test_nothing_fits(self):
        code, stdout, stderr = self.search("sharded:3")
        self.assertEqual((code, stdout), (4, ""))
        self.assertIn("not even a batch of 1 fits", stderr)

    def test_another_failure_ends_it(self):
        code, _, stderr = self.search("--set", "fails=hang", "ddp")
        self.assertEqual(code, 4)
        self.assertIn("it hang", stderr)

    def test_needs_a_model(self):
        done = subprocess.run([SCRIPT, "ddp"], env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--set model=NAME", done.stderr)


if __name__ == "__main__":
    unittest.main()
