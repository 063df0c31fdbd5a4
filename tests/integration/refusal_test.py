"""What is refused before anything is started: exit codes 2, 3 and 8, and what they leave behind."""

import unittest

from runs import RunTest, workers_of

FAULTY = """model: mobilenet_v3
image_sizes: 64
batch_size: 7
precision: [fp32]
warmup_steps: -1
budget: {steps: 3, epochs: 1}
"""
SYSTEM = """gpus:
  card0: {pci_address: "0000:18:00.0", attach: local}
topologies:
  my_cards: [card0]
"""


class RefusalTest(RunTest):
    def refused(self, code, *arguments):
        """The command ends at once with this code; nothing but its output files is left by exit 2."""
        before = {path for path in self.folder.rglob("*")}
        done = self.run_program(*arguments)
        self.assertEqual(done.code, code, done)
        self.assertEqual(done.stdout, "" if code == 2 else done.stdout)
        if code == 2:
            made = {p.name for p in self.folder.rglob("*")} - {p.name for p in before}
            self.assertEqual({name for name in made if not name.startswith("std")}, set())
        return done.stderr

    def test_all_faults_of_a_spec_at_once_each_with_its_place(self):
        (self.folder / "faulty.yaml").write_text(FAULTY)
        stderr = self.refused(2, "--config", "faulty.yaml", "--output", "out.json")
        for place, word in (
            ("faulty.yaml:1:8: model:", "mobilenet_v2"),
            ("faulty.yaml:2:1: image_sizes:", "image_size"),
            ("faulty.yaml:3:13: batch_size:", "per_gpu: 7"),
            ("faulty.yaml:4:12: precision:", "list"),
            ("faulty.yaml:5:15: warmup_steps:", "-1"),
            ("faulty.yaml:6:", "budget"),
        ):
            line = next((line for line in stderr.splitlines() if line.startswith(place)), None)
            self.assertIsNotNone(line, f"{place} not in\n{stderr}")
            self.assertIn(word, line)
        self.assertIn("6 faults", stderr)

    def test_usage(self):
        spec = self.write_spec()
        for words, told in (
            ([], "--config"),
            (["--config", spec, "--outputt", "x"], "--output"),
            (["--config", spec, "--wormup-steps=3"], "--warmup-steps"),
            (["rum", "--config", spec], "run"),
            ([spec], "--config"),
            (["--config", spec, "word"], "word"),
            (["--config", spec, "--config", spec], "twice"),
            (["--config", "none.yaml"], "none.yaml"),
            (["--config", spec, "--set", "warmup_steps"], "warmup_steps"),
            (["--config", spec, "--set", "warm=3"], "warm"),
            (["--config", spec, "--set", "optimizer.rate=3"], "optimizer.rate"),
            (["--config", spec, "--set", "budget.steps=[1"], "budget.steps"),
            (["--config", spec, "--steps", "3"], "--steps"),
            (["--set", "seed=1"], "model"),
            (["list", "kes"], "keys"),
            (["list"], ""),
            (["data", "mak", "imagefolder", "x"], "make"),
            (["data", "make", "imagefolder"], "--help"),
            (["data", "check", "cocoa", "x"], "imagefolder"),
        ):
            with self.subTest(words=words):
                done = self.run_program(*words)
                self.assertEqual(done.code, 2, done)
                self.assertIn(told, done.stderr)

    def test_impossible_pairs_are_faults_of_the_spec(self):
        spec = self.write_spec()
        for setting, told in (
            ("precision=fp16", "precision"),
            ("engine.fused=on", "engine.fused"),
            ("engine.cudnn_benchmark=true", "engine.cudnn_benchmark"),
            ("image_size=50", "64"),
            ("data.path=somewhere", "data.path"),
            ("batch_size.per_gpu=65", "data.samples"),
            ("topology=localGPU", "localGPUs"),
            ("topology=[0]", "bare index"),
        ):
            with self.subTest(setting=setting):
                self.assertIn(told, self.refused(2, "--config", spec, "--output", "out.json", "--set", setting))
        more = ["--set", "devices=2", "--set", "parallelism=none"]
        self.assertIn("none works on one device", self.refused(2, "--config", spec, *more))
        odd = ["--set", "devices=2", "--set", "batch_size.global=9"]
        self.assertIn("batch_size.global", self.refused(2, "--config", spec, *odd))

    def lacking(self, *settings):
        """Exit 3: a report that says so, in the shape of all reports."""
        words = [word for setting in settings for word in ("--set", setting)]
        stderr = self.refused(3, "--config", self.write_spec(), "--output", "out.json", *words)
        report = self.report()
        self.assert_valid(report)
        self.assertEqual((report["run"]["status"], report["run"]["exit_code"]), ("failed", 3))
        self.assertEqual(report["error"]["kind"], "host")
        self.assertIn(report["error"]["message"].splitlines()[0], stderr)
        return report["error"]["message"]

    def test_a_host_without_what_was_asked_for(self):
        if (self.plan("model=resnet50")["topology_devices"] or [""])[0] != "cpu":
            self.skipTest("this host has GPUs")
        self.assertIn("no GPU", self.lacking("topology=all"))
        self.assertIn("system file", self.lacking("topology=localGPUs"))
        self.assertIn("0000:18:00.0", self.lacking('topology=["0000:18:00.0"]'))
        (self.folder / "system.yaml").write_text(SYSTEM)
        self.assertIn("card0", self.lacking("system=system.yaml", "topology=my_cards"))
        self.assertIn("no topology of that name", self.lacking("system=system.yaml", "topology=falconGPUs"))
        path = "data={format: imagefolder, path: x}"
        self.assertIn("localNVMe", self.lacking("storage=localNVMe", path))
        self.assertIn("absent", self.lacking("data={format: imagefolder, path: absent}"))

    def test_a_report_that_cannot_be_written_is_known_before_anything_is_made(self):
        spec = self.write_spec(data={"format": "imagefolder", "path": "made", "make": {"train": 16}})
        (self.folder / "file").write_text("")
        (self.folder / "folder").mkdir()
        for output in ("file/out.json", "folder", "/proc/nothing/out.json"):
            with self.subTest(output=output):
                done = self.run_program("--config", spec, "--output", output)
                self.assertEqual(done.code, 8, done)
                self.assertIn(output, done.stderr)
                self.assertFalse((self.folder / "made").exists())

    def test_a_dry_run_starts_and_leaves_nothing(self):
        spec = self.write_spec(data={"format": "imagefolder", "path": "made", "make": {"train": 16}}, output="o.json")
        running = self.start("--config", spec, "--dry-run")
        started = set()
        while running.process.poll() is None:
            started |= set(workers_of(running.pid))
        self.assertEqual((running.process.returncode, started), (0, set()))
        left = {path.name for path in self.folder.iterdir() if not path.name.startswith("std")}
        self.assertEqual(left, {spec})


if __name__ == "__main__":
    unittest.main()
