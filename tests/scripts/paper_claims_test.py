"""scripts/paper_claims.py on made reports: what it computes, and that it says what is missing or emulated."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "analysis"))
import made_reports  # noqa: E402


class PaperClaimsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.reports = self.folder / "reports"
        self.reports.mkdir()

    def table(self, *more):
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "scripts/paper_claims.py", self.reports, *more],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
        return {row[1]: row[2] for row in rows[1:]}

    def test_a_whole_study(self):
        made_reports.write_study(self.reports, 50)
        links = {"classes": [{"name": name, "peer_to_peer": {"both_bytes_per_s": {"median": rate}}} for name, rate in (
            ("L-L", 72e9), ("F-L", 18e9), ("F-F same drawer", 25e9), ("F-F cross drawer", 23e9))]}  # fmt: skip
        (self.folder / "links.json").write_text(json.dumps(links))
        table = self.table("--links", self.folder / "links.json")
        by = {statement.split(" ")[0] + statement[-12:]: measured for statement, measured in table.items()}
        self.assertEqual(len(by), len(table))
        bert = next(measured for statement, measured in table.items() if "almost twice the time" in statement)
        self.assertIn("bert_large falconGPUs +95.0 % (emulated)", bert)
        traffic = next(measured for statement, measured in table.items() if "76.43" in statement)
        self.assertIn("72.4 GB/s (emulated)", traffic)
        self.assertIn("4.00 times (72.0 and 18.0 GB/s)", next(v for k, v in table.items() if "F-L pairs" in k))
        self.assertIn("3.00 times", next(v for k, v in table.items() if "F-F pairs" in k))
        self.assertEqual(next(v for k, v in table.items() if "mixed precision" in k), "not measured")
        ratios = next(measured for statement, measured in table.items() if "about 19 times" in statement)
        # 4 GPU ways of 1 GB/s, and 18 GB/s more for all of a slowdown: 0.95 against 0.03 and 0.04
        self.assertEqual(ratios, "11.8 times mobilenet_v2 (emulated), 10.5 times resnet50 (emulated)")

    def test_size_memory_and_drops_of_utilisation(self):
        sizes = {"mobilenet_v2": 3.5e6, "resnet50": 25.5e6, "bert_large": 334e6}
        for model, number in sizes.items():
            for place in ("localGPUs", "falconGPUs"):
                made = made_reports.full_report(model, place)
                made["training"]["model"] = {"parameters": number}
                made["training"]["checkpoints"] = [{}, {}]
                (self.reports / f"{model}-{place}.json").write_text(json.dumps(made))
        small = made_reports.full_report("bert_large", "localGPUs")
        small["spec"] |= {"model_options": {"layers": 2}}
        small["training"]["model"] = {"parameters": 2e6}
        (self.reports / "z.json").write_text(json.dumps(small))
        table = self.table()
        self.assertEqual(next(v for k, v in table.items() if "340 million" in k), "334 M, 13.1 times ResNet-50's 25.5 M")
        growth = next(v for k, v in table.items() if "grows with the size" in k)
        self.assertLess(growth.index("3.5 M: mobilenet_v2"), growth.index("25.5 M: resnet50"))
        self.assertIn("334.0 M: bert_large falconGPUs +95.0 % (emulated)", growth)
        drops = next(v for k, v in table.items() if "drops periodically" in k)
        self.assertIn("resnet50 mean 96 %, lowest 86 %, 2 checkpoints", drops)
        self.assertIn("bert_large localGPUs 11 GB", next(v for k, v in table.items() if "massive amounts" in k))

    def test_the_batch_that_sharding_leaves_room_for(self):
        for name, strategy, batch in (("a", "ddp", 12), ("b", "sharded", 20)):
            made = made_reports.report(name)
            made["plan"] |= {"parallelism": strategy, "global_batch": batch}
            made["ranks"] = [{**made["ranks"][0], "gpu_memory_peak_bytes": 12.5e9}] * 2
            (self.reports / f"{name}.json").write_text(json.dumps(made))
        room = next(v for k, v in self.table().items() if "from 6 to 10" in k)
        self.assertEqual(room, "ddp localGPUs 6 a GPU, 12.5 GB, sharded localGPUs 10 a GPU, 12.5 GB")

    def test_failed_runs_do_not_count(self):
        made = made_reports.full_report("bert_large", "localGPUs")
        made["run"]["status"] = "failed"
        (self.reports / "a.json").write_text(json.dumps(made))
        self.assertEqual(set(self.table().values()), {"not measured"})

    def test_a_gain_is_said_as_time_saved_and_as_speed_up(self):
        for precision, rate in (("fp32", 100.0), ("fp16", 200.0)):
            made = made_reports.report(precision, rate=rate)
            made["spec"]["precision"] = precision
            (self.reports / f"{precision}.json").write_text(json.dumps(made))
        gain = next(v for k, v in self.table().items() if "mixed precision" in k)
        self.assertEqual(gain, "localGPUs 50 % less time, 2.00 times as fast")


if __name__ == "__main__":
    unittest.main()
