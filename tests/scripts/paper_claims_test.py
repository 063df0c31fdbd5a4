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
