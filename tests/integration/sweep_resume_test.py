"""The paper's study from end to end with two workers on the CPU: its own specs and grids with small data and short
passes, killed twice and resumed, then compared, shown, and put beside the paper's claims."""

import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

from runs import LONG_S, PROGRAM, ROOT, RunTest, processes, wait_until

MODELS = ("bert_base", "bert_large", "mobilenet_v2", "resnet50", "yolov5l")
POINTS = 5 * 3 + 3  # each model on the default storage and two named ones; the software study of BERT-large
# What makes the paper's specs small enough for a CPU, which has no fp16.
SMALL_BERT = "model_options: {layers: 2, hidden_size: 64, heads: 2}\n"
SMALL_PICTURES = "image_size: 64\n"
CHANGES = {
    "bert_base.yaml": (SMALL_BERT, ("global: 96", "global: 4"), ("fp16", "bf16")),
    "bert_large.yaml": (SMALL_BERT, ("global: 48", "global: 4"), ("fp16", "bf16")),
    "mobilenet_v2.yaml": (SMALL_PICTURES, ("per_gpu: 64", "per_gpu: 4"), ("fp16", "fp32")),
    "resnet50.yaml": (SMALL_PICTURES, ("per_gpu: 128", "per_gpu: 4"), ("fp16", "fp32")),
    "yolov5l.yaml": (SMALL_PICTURES, ("global: 88", "global: 4"), ("fp16", "fp32"), ("train2017", "train")),
    "sweep.txt": ("", ("global: 80", "global: 8")),
}
STORAGES = {"localNVMe": "local", "falconNVMe": "falcon"}


class SweepResumeTest(RunTest):
    def setUp(self):
        super().setUp()
        specs = self.folder / "configs/paper"
        specs.mkdir(parents=True)
        for name, (more, *changes) in CHANGES.items():
            text = (ROOT / "configs/paper" / name).read_text()
            for old, new in changes:
                self.assertIn(old, text, name)
                text = text.replace(old, new)
            (specs / name).write_text(text + more)
        self.ok("data", "make", "imagefolder", "data/imagenet", "--train", "16", "--side", "96")
        self.ok("data", "make", "coco", "data/coco", "--train", "8", "--side", "96")
        self.ok("data", "make", "squad", "data/squad", "--train", "8")
        for attach in STORAGES.values():
            shutil.copytree(self.folder / "data", self.folder / "mounts" / attach)
        mounts = {
            name: {"mount": str(self.folder / "mounts" / attach), "attach": attach} for name, attach in STORAGES.items()
        }
        (self.folder / "system.json").write_text(json.dumps({"storage": mounts}))

    def start_sweep(self):
        settings = ("topology=cpu", "devices=2", "budget.epochs=1", "warmup_steps=1", f"system={self.folder / 'system.json'}")
        words = [word for setting in settings for word in ("--set", setting)]
        specs = [f"configs/paper/{model}.yaml" for model in MODELS]
        return subprocess.Popen(
            [ROOT / "scripts/sweep.sh", *specs, *words, "--output-dir", "a study"],
            cwd=self.folder,
            env={**os.environ, "FALCONBENCH": PROGRAM},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def reports(self):
        return {path.name: json.loads(path.read_text()) for path in sorted((self.folder / "a study").glob("*.json"))}

    def well_ended(self):
        return {name for name, report in self.reports().items() if report["run"]["status"] == "ok"}

    def own_runs(self):
        return [pid for pid, _, state, words in processes() if state != "Z" and any("a study/" in word for word in words)]

    def identities(self):
        return {name: (self.folder / "a study" / name).stat().st_ino for name in self.well_ended()}

    def after(self, number):
        """A sweep that has so many good reports, and works on the next point."""
        sweep = self.start_sweep()
        wait_until(lambda: len(self.well_ended()) >= number and self.own_runs(), LONG_S, f"{number} reports")
        return sweep

    def test_killed_twice_and_resumed_no_point_is_lost_or_doubled(self):
        sweep = self.after(2)
        sweep.send_signal(signal.SIGKILL)
        sweep.communicate(timeout=LONG_S)
        before = self.identities()
        # the second time a point is told to end: it is noted, and the sweep goes on
        sweep = self.after(len(before) + 2)
        for pid in self.own_runs():
            os.kill(pid, signal.SIGTERM)
        _, stderr = sweep.communicate(timeout=3 * LONG_S)
        self.assertEqual(sweep.returncode, 4, stderr)
        self.assertEqual(len(self.well_ended()), POINTS - 1, stderr)
        statuses = [report["run"]["status"] for report in self.reports().values()]
        self.assertEqual(statuses.count("interrupted"), 1, stderr)
        before |= self.identities()

        sweep = self.start_sweep()
        stdout, stderr = sweep.communicate(timeout=3 * LONG_S)
        self.assertEqual(sweep.returncode, 0, stderr)
        self.assertTrue(stdout.startswith(f"{POINTS} points: {POINTS} ok"), stdout)
        self.assertEqual(stderr.count(": ok already"), POINTS - 1, stderr)
        self.assertEqual(self.own_runs(), [])
        self.check_whole(before)
        self.check_answers()

    def check_whole(self, before):
        reports = self.reports()
        self.assertEqual(len(reports), POINTS)
        self.assertEqual({report["run"]["status"] for report in reports.values()}, {"ok"})
        for key in ("id", "spec_hash"):
            self.assertEqual(len({report["run"][key] for report in reports.values()}), POINTS)
        for name, inode in before.items():
            self.assertEqual((self.folder / "a study" / name).stat().st_ino, inode, "a finished point ran again")
        index = [json.loads(line) for line in (self.folder / "a study/index.jsonl").read_text().splitlines()]
        self.assertEqual(sorted(line["report"] for line in index), sorted(reports))
        self.assertEqual({report["spec"]["model"] for report in reports.values()}, set(MODELS))
        for storage in ("", *STORAGES):
            models = [report["spec"]["model"] for report in reports.values() if report["spec"]["storage"] == storage]
            self.assertEqual(set(models), set(MODELS), storage)
        for report in reports.values():
            self.assertEqual(sum(len(rank["devices"]) for rank in report["ranks"]), 2)
            self.assertEqual(len(report["training"]["checkpoints"]), 1)
        large = [report for report in reports.values() if report["spec"]["model"] == "bert_large"]
        self.assertEqual(sorted(report["plan"]["parallelism"] for report in large), ["ddp"] * 4 + ["dp", "sharded"])
        self.assertEqual(sorted(report["spec"]["precision"] for report in large), ["bf16"] * 5 + ["fp32"])

    def check_answers(self):
        self.ok("compare", "a study", "--json")
        self.ok("report", "a study", "--html", "out/page.html", "--csv", "out/csv")
        self.assertIn(f"{POINTS} reports, {POINTS} ended well", (self.folder / "out/page.html").read_text())
        self.ok("export", "junit", "a study", "--output", "out/junit.xml")
        claims = subprocess.run(
            [sys.executable, "-B", ROOT / "scripts/paper_claims.py", "a study"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=LONG_S,
            check=True,
        ).stdout
        self.assertIn(f"{POINTS} reports, {POINTS} ended well", claims)
        rows = [line.split(" | ") for line in claims.splitlines() if line.startswith("| ")][1:]
        # CPU workers tell nothing of GPUs and their links, and small networks nothing of the paper's
        self.assertEqual({row[2].rstrip(" |") for row in rows}, {"not measured"})


if __name__ == "__main__":
    unittest.main()
