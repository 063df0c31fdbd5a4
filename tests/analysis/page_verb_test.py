"""falconbench report: the page from 1, 60 and 1000 reports, hostile texts, CSV; in a browser where there is one."""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import made_reports

PROGRAM = os.environ["FALCONBENCH_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOSTILE = "</script><script>alert('x')</script><img src=x onerror=alert(1)>&amp;\u2028"


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


class PageTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.reports = self.folder / "reports"
        self.reports.mkdir()

    def report(self, *words):
        done = subprocess.run([PROGRAM, "report", *words], capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stderr

    def page(self, *words):
        path = self.folder / "made" / "page.html"
        code, stderr = self.report(str(self.reports), "--html", str(path), *words)
        self.assertEqual(code, 0, stderr)
        return path.read_text(encoding="utf-8")

    def charts(self, *words):
        return {chart["id"]: chart for chart in data_of(self.page(*words))["charts"]}

    def test_the_figures_of_the_paper_are_there(self):
        made_reports.write_study(self.reports, 60)
        charts = self.charts("--price", "2", "--currency", "EUR")
        for name in (
            "training_time phases gpu_over_time gpu_busy gpu_memory gpu_memory_access pcie storage steps cpu host_memory "
            "throughput energy energy_epoch cost"
        ).split():
            self.assertEqual(charts[name].get("empty", ""), "", name)
        rows = {(row["panel"], row["label"]): row for row in charts["training_time"]["rows"]}
        self.assertEqual(len(rows), 25)
        slow = rows["bert_large", "falconGPUs"]
        self.assertAlmostEqual(slow["values"][0], 1.95, delta=0.02)
        self.assertLess(slow["values"][1], slow["values"][2])
        self.assertTrue(slow["emulated"])
        self.assertEqual(rows["bert_large", "localGPUs"]["values"][0], 1)
        traffic = {(row["panel"], row["label"]): row for row in charts["pcie"]["rows"]}
        self.assertAlmostEqual(traffic["bert_large", "falconGPUs"]["values"][0], 2 * 2 * (1 + 18 * 0.95), places=6)
        self.assertEqual(traffic["bert_large", "localGPUs"]["missing"], "no GPU is in the chassis")
        self.assertEqual({row["panel"] for row in charts["storage"]["rows"]}, set(made_reports.MODELS))
        answers = data_of(self.page())["answers"][0]["rows"]
        self.assertEqual(answers[1][:4], ["bert_large", "falconGPUs (emulated)", "localGPUs", "+95.0 %"])
        self.assertTrue(answers[1][-1].startswith("communication_exposed"))

    def test_checkpoints_are_named_where_they_make_the_difference(self):
        for name, topology, seconds in (("a", "localGPUs", 10), ("b", "falconGPUs", 13)):
            report = made_reports.report(name, topology=topology)
            report["training"] |= {"steps": 10, "measured_s": 10, "training_time_s": seconds}
            (self.reports / f"{name}.json").write_text(json.dumps(report))
        answers = data_of(self.page())["answers"][0]["rows"]
        self.assertEqual(answers[1][3], "+30.0 %")
        self.assertEqual(answers[1][-1], "checkpoints and evaluation, 0 to 300.0 ms a step")

    def test_one_report_makes_a_page(self):
        made_reports.write_study(self.reports, 1)
        charts = self.charts()
        self.assertEqual(charts["training_time"]["rows"][0]["values"], [1, None, None])
        self.assertIn("no report", charts["storage"]["empty"])

    def test_what_is_missing_is_shown_as_missing(self):
        made_reports.write(self.reports, "bare")
        made_reports.write(self.reports, "failed", status="failed")
        page = self.page()
        charts = {chart["id"]: chart for chart in data_of(page)["charts"]}
        self.assertEqual(charts["gpu_busy"]["empty"], "no GPU computed")
        self.assertEqual(charts["gpu_busy"]["rows"][0]["values"], [])
        self.assertIn("1 run did not end well", data_of(page)["notices"][0])

    def test_a_thousand_reports_stay_quick_and_small(self):
        made_reports.write_study(self.reports, 1000)
        begin = time.monotonic()
        page = self.page()
        self.assertLess(time.monotonic() - begin, 60)
        self.assertLess(len(page), 3_000_000)
        self.assertEqual(sum(row["runs"] for row in data_of(page)["charts"][0]["rows"]), 1000)

    def test_texts_of_reports_never_become_markup(self):
        made = made_reports.full_report("resnet50", "localGPUs", name=HOSTILE)
        made["spec"]["topology"] = made["run"]["hostname"] = HOSTILE
        made["findings"] = [{"id": HOSTILE, "severity": "warning", "message": HOSTILE, "advice": HOSTILE}]
        (self.reports / "hostile.json").write_text(json.dumps(made))
        page = self.page("--currency", HOSTILE, "--price", "1")
        self.assertEqual(page.count("<script"), 4, "the data, d3, and the page's own two")
        self.assertNotIn("alert(", page.replace(r"\u003cscript\u003ealert(", "").replace("onerror=alert(", ""))
        self.assertNotIn("<img", page)
        self.assertEqual(data_of(page)["charts"][0]["rows"][0]["label"], HOSTILE)
        self.assertIn("default-src 'none'", page)

    def test_csv_has_the_same_numbers(self):
        made_reports.write_study(self.reports, 60)
        out = self.folder / "a folder" / "csv"
        charts = self.charts("--csv", str(out))
        for name, chart in charts.items():
            with open(out / f"{name}.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            if chart["kind"] == "lines":
                self.assertEqual(len(rows) - 1, sum(len(row["values"]) or 1 for row in chart["rows"]))
                continue
            self.assertEqual(rows[0][4:-1], chart["columns"])
            for row, made in zip(rows[1:], chart["rows"], strict=True):
                self.assertEqual(row[1], made["label"])
                values = made["values"] or [None] * len(chart["columns"])
                self.assertEqual([float(cell) if cell else None for cell in row[4:-1]], values)
        with open(out / "runs.csv", newline="", encoding="utf-8") as file:
            self.assertEqual(len(list(csv.reader(file))), 61)

    def test_faults_are_told_by_the_exit_code(self):
        made_reports.write_study(self.reports, 1)
        self.assertEqual(self.report(str(self.reports))[0], 2, "nowhere to write to")
        self.assertEqual(self.report("--html", "a.html")[0], 2, "nothing to read")
        self.assertEqual(self.report(str(self.reports), "--html", "/proc/none/a.html")[0], 8)
        (self.reports / "bad.json").write_text("{")
        code, stderr = self.report(str(self.reports), "--html", str(self.folder / "a.html"))
        self.assertEqual(code, 2)
        self.assertIn("bad.json:1:", stderr)
        self.assertFalse((self.folder / "a.html").exists())

    @unittest.skipUnless(any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "no Chromium here")
    def test_a_browser_draws_every_chart_without_a_complaint(self):
        pages = []
        for number in (1, 60, 1000):
            folder = self.folder / str(number)
            folder.mkdir()
            made_reports.write_study(folder, number)
            pages.append(str(self.folder / f"{number}.html"))
            self.assertEqual(self.report(str(folder), "--html", pages[-1], "--price", "2")[0], 0)
        hostile = made_reports.full_report("resnet50", "localGPUs", name=HOSTILE)
        hostile["spec"]["topology"] = HOSTILE
        (self.reports / "hostile.json").write_text(json.dumps(hostile))
        pages.append(str(self.folder / "hostile.html"))
        self.assertEqual(self.report(str(self.reports), "--html", pages[-1])[0], 0)
        done = subprocess.run(
            [ROOT / "scripts" / "check_page.sh", *pages], capture_output=True, text=True, timeout=900, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(": fine"), 16)


if __name__ == "__main__":
    sys.exit(unittest.main())
