"""falconbench compare as CI calls it: words, files, exit codes."""

import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import made_reports

PROGRAM = os.environ["FALCONBENCH_PROGRAM"]


class CompareTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def compare(self, *words):
        done = subprocess.run([PROGRAM, "compare", *words], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def repeats(self, name, rates, **figures):
        folder = self.folder / name
        folder.mkdir()
        for number, rate in enumerate(rates):
            made_reports.write(folder, f"{name}{number}", rate=rate, seed=number, **figures)
        return str(folder)

    def test_the_gate_tells_a_slower_day_by_its_exit_code(self):
        before = self.repeats("before", [100, 101, 99, 100.5, 99.5])
        after = self.repeats("after", [90, 91, 89, 90.5, 89.5])
        code, stdout, _ = self.compare("--base", before, after, "--gate", "5%", "--json")
        self.assertEqual(code, 7)
        self.assertEqual(json.loads(stdout)["verdict"], "regression")
        self.assertEqual(self.compare("--base", before, after, "--gate", "15%")[0], 0)
        self.assertEqual(self.compare("--base", after, before, "--gate=0%", "--significance=0.01")[0], 0)
        self.assertEqual(self.compare("--base", before, after)[0], 0, "no gate, no alarm")

    def test_two_files_are_one_run_each(self):
        old = made_reports.write(self.folder, "old", rate=100)
        new = made_reports.write(self.folder, "new", rate=80)
        code, stdout, _ = self.compare(old, new, "--gate", "5%")
        self.assertEqual(code, 7)
        self.assertIn("one run each", stdout)

    def test_every_format_reads_back(self):
        old = made_reports.write(self.folder, "old", rate=100)
        new = made_reports.write(self.folder, "new", rate=50, topology='falcon,"GPUs"')
        rows = list(csv.DictReader(io.StringIO(self.compare(old, new, "--format", "csv")[1])))
        throughput = next(row for row in rows if row["figure"] == "throughput")
        self.assertEqual(throughput["configuration"], 'falcon,"GPUs"')
        self.assertEqual(float(throughput["change_pct"]), -50)
        self.assertIn("| configuration |", self.compare(old, new, "--format=markdown")[1])
        priced = json.loads(self.compare(old, new, "--json", "--price", "2.5", "--currency", "EUR")[1])
        cost = priced["comparisons"][0]["figures"][-1]
        self.assertEqual((cost["unit"], cost["base"]), ("samples/EUR", 100 * 3600 / 2.5))

    def test_different_work_is_refused_unless_forced(self):
        old = made_reports.write(self.folder, "old")
        new = made_reports.write(self.folder, "new", model="resnet50")
        code, stdout, stderr = self.compare(old, new)
        self.assertEqual((code, stdout), (2, ""))
        self.assertIn("model: bert_large and resnet50", stderr)
        self.assertEqual(self.compare(old, new, "--force")[0], 0)

    def test_what_cannot_be_read_is_named_with_its_place(self):
        good = made_reports.write(self.folder, "good")
        for text, part in (
            ('{"schema_version": 1,\n "run": {', "bad.json:2:"),
            ('{"schema_version": 9, "run": {}}', "schema_version: is 9"),
            ("", "bad.json:1:1"),
        ):
            bad = self.folder / "bad.json"
            bad.write_text(text)
            code, _, stderr = self.compare(good, str(bad))
            self.assertEqual(code, 2)
            self.assertIn(part, stderr)
        self.assertEqual(self.compare(good, str(self.folder / "absent.json"))[0], 2)

    def test_a_failed_run_is_no_pass(self):
        old = made_reports.write(self.folder, "old")
        new = made_reports.write(self.folder, "new", status="failed")
        code, _, stderr = self.compare(old, new, "--gate", "5%")
        self.assertEqual(code, 2)
        self.assertIn("ended well", stderr)

    def test_a_report_given_twice_counts_once(self):
        old = made_reports.write(self.folder, "old")
        new = made_reports.write(self.folder, "new", rate=99)
        code, stdout, stderr = self.compare("--base", old, old, new, "--json")
        self.assertEqual(code, 0)
        self.assertIn("left out", stderr)
        self.assertEqual(json.loads(stdout)["comparisons"][0]["other"]["runs"], 1)

    def test_wrong_words_are_told(self):
        old = made_reports.write(self.folder, "old")
        for words, part in (
            ((), "at least two"),
            ((old,), "at least two"),
            ((old, "--gat", "5"), "did you mean --gate?"),
            ((old, "--gate"), "needs a percentage"),
            ((old, old, "--gate", "x"), "needs a number"),
            ((old, old, "--significance", "2"), "to 0.5"),
            ((old, old, "--format", "xml"), "table, markdown, csv, json or junit"),
        ):
            with self.subTest(words):
                code, _, stderr = self.compare(*words)
                self.assertEqual(code, 2)
                self.assertIn(part, stderr)


if __name__ == "__main__":
    unittest.main()
