"""A study from end to end with real workers on the CPU: a sweep killed twice and resumed, then compared and shown."""

import json
import os
import signal
import subprocess
import unittest

from runs import LONG_S, PROGRAM, ROOT, RunTest, processes, wait_until

POINTS = 6  # 2 models x 3 settings


class SweepResumeTest(RunTest):
    def sweep_words(self, *more):
        files = [
            self.write_spec(f"{model}.json", model=model, devices=2, batch_size={"per_gpu": 4})
            for model in ("mobilenet_v2", "resnet50")
        ]
        return [ROOT / "scripts/sweep.sh", *files, "--set", "data.loader.prefetch=2,3,4", "--output-dir", "a study", *more]

    def start_sweep(self):
        return subprocess.Popen(
            self.sweep_words(),
            cwd=self.folder,
            env={**os.environ, "FALCONBENCH": PROGRAM},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def reports(self):
        return sorted((self.folder / "a study").glob("*.json"))

    def own_runs(self):
        return [pid for pid, _, state, words in processes() if state != "Z" and any("a study/" in word for word in words)]

    def kill_after(self, number):
        """Kills the sweep while it works on the point after so many reports."""
        sweep = self.start_sweep()
        wait_until(lambda: len(self.reports()) >= number and self.own_runs(), LONG_S, f"{number} reports")
        sweep.send_signal(signal.SIGKILL)
        sweep.communicate(timeout=LONG_S)

    def test_killed_twice_and_resumed_no_point_is_lost_or_doubled(self):
        self.kill_after(1)
        finished = {path.name: path.stat().st_ino for path in self.reports()[:1]}
        self.kill_after(3)
        sweep = self.start_sweep()
        stdout, stderr = sweep.communicate(timeout=3 * LONG_S)
        self.assertEqual(sweep.returncode, 0, stderr)
        self.assertTrue(stdout.startswith(f"{POINTS} points: {POINTS} ok"), stdout)
        self.assertEqual(self.own_runs(), [])
        reports = [json.loads(path.read_text()) for path in self.reports()]
        self.assertEqual(len(reports), POINTS)
        self.assertEqual({report["run"]["status"] for report in reports}, {"ok"})
        self.assertEqual(len({report["run"]["id"] for report in reports}), POINTS)
        self.assertEqual(len({report["run"]["spec_hash"] for report in reports}), POINTS)
        for name, inode in finished.items():
            self.assertEqual((self.folder / "a study" / name).stat().st_ino, inode, "a finished point ran again")
        index = [json.loads(line) for line in (self.folder / "a study/index.jsonl").read_text().splitlines()]
        self.assertEqual(sorted(line["report"] for line in index), [path.name for path in self.reports()])

        self.ok("compare", "a study", "--json")
        self.ok("report", "a study", "--html", "out/page.html", "--csv", "out/csv")
        self.assertIn("6 reports, 6 ended well", (self.folder / "out/page.html").read_text())
        self.ok("export", "junit", "a study", "--output", "out/junit.xml")


if __name__ == "__main__":
    unittest.main()
