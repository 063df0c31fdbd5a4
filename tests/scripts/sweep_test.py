"""scripts/sweep.sh over a stand-in for falconbench: grid, resume, failures, interruption."""

import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

from sweeps import SCRIPTS, STAND_IN, SweepCase

os.environ["FALCONBENCH"] = STAND_IN
sys.path.insert(0, str(SCRIPTS))
import sweep_points  # noqa: E402


class SweepTest(SweepCase):
    def setUp(self):
        super().setUp()
        self.spec("base.yaml")

    def spec(self, name, text="model: resnet50\n"):
        (self.folder / name).write_text(text)
        return name

    def index(self):
        lines = [json.loads(line) for line in (self.out / "index.jsonl").read_text().splitlines()]
        return {line["name"]: line for line in lines}

    def test_lists_make_a_grid_with_the_last_key_fastest(self):
        code, stdout, _ = self.sweep("base.yaml", "--set", "precision=fp32,bf16", "--set", "devices=1,2")
        self.assertEqual(code, 0)
        self.assertEqual(
            [call.split(" --output")[0] for call in self.calls()],
            [
                f"--config base.yaml --set precision={precision} --set devices={devices}"
                for precision in ("fp32", "bf16")
                for devices in (1, 2)
            ],
        )
        self.assertTrue(stdout.startswith("4 points: 4 ok\n"), stdout)
        self.assertIn("| base-precision=bf16-devices=2 | bf16 | 2 | ok | 123.5 | 8.1 |  |", stdout)
        self.assertEqual(stdout, (self.out / "summary.md").read_text())

    def test_json_files_of_the_folder_are_reports_only(self):
        self.sweep("base.yaml", "--set", "act=ok,fail,silent")
        self.assertEqual(
            sorted(os.listdir(self.out)),
            [
                "base-act=fail.json",
                "base-act=fail.log",
                "base-act=ok.json",
                "base-act=ok.log",
                "base-act=silent.log",
                "index.jsonl",
                "summary.md",
            ],
        )

    def test_a_finished_sweep_starts_nothing(self):
        self.sweep("base.yaml", "--set", "a=1,2")
        self.assertEqual(len(self.calls()), 2)
        code, stdout, stderr = self.sweep("base.yaml", "--set", "a=1,2")
        self.assertEqual((code, self.calls()), (0, []))
        self.assertIn("ok already", stderr)
        self.assertIn("2 points: 2 ok", stdout)

    def test_a_changed_spec_is_run_again(self):
        self.sweep("base.yaml", "--set", "a=1,2")
        self.calls()
        self.spec("base.yaml", "model: mobilenet_v2\n")
        self.assertEqual(self.sweep("base.yaml", "--set", "a=1,2")[0], 0)
        self.assertEqual(len(self.calls()), 2)

    def test_a_failed_point_is_noted_and_the_sweep_goes_on(self):
        code, stdout, _ = self.sweep("base.yaml", "--set", "act=fail,ok")
        self.assertEqual((code, len(self.calls())), (4, 2))
        self.assertTrue(stdout.startswith("2 points: 1 failed, 1 ok\n"), stdout)
        failed = self.index()["base-act=fail"]
        self.assertEqual(
            (failed["status"], failed["exit_code"], failed["message"]), ("failed", 4, "rank 1 ended with signal 9")
        )
        self.sweep("base.yaml", "--set", "act=fail,ok")
        self.assertEqual(len(self.calls()), 1, "only the failed one is tried again")

    def test_a_refused_spec_is_told_with_all_its_faults_and_not_run(self):
        code, _, stderr = self.sweep("base.yaml", "--set", "act=typo,ok")
        self.assertEqual((code, len(self.calls())), (4, 1))
        self.assertIn("refused: a.yaml:1:1: unknown key; a.yaml:2:1: wrong type", stderr)
        self.assertEqual(self.index()["base-act=typo"]["exit_code"], 2)

    def test_no_report_is_a_failure_whatever_the_exit_code(self):
        self.assertEqual(self.sweep("base.yaml", "--set", "act=silent,crash")[0], 4)
        index = self.index()
        self.assertIn("left no report", index["base-act=silent"]["message"])
        self.assertEqual(
            (index["base-act=crash"]["exit_code"], index["base-act=crash"]["message"]), (137, "last words")
        )

    def test_an_older_report_does_not_speak_for_a_run_that_left_none(self):
        self.sweep("base.yaml", "--set", "act=silent")
        (self.out / "base-act=silent.json").write_text('{"run": {"status": "ok", "spec_hash": "of another spec"}}')
        self.assertEqual(self.sweep("base.yaml", "--set", "act=silent")[0], 4)
        self.assertEqual(self.index()["base-act=silent"]["status"], "failed")

    def test_sigint_and_sigterm_stop_the_run_and_keep_its_report(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number):
                process = self.start("base.yaml", "--set", "act=ok,wait,later")
                waiting = pathlib.Path(f"{self.calls_file}.waiting")
                deadline = time.monotonic() + 30
                while not waiting.exists() and time.monotonic() < deadline:
                    time.sleep(0.02)
                process.send_signal(number)
                process.communicate(timeout=30)
                waiting.unlink()
                self.assertEqual(process.returncode, code)
                self.assertEqual(
                    {name: point["status"] for name, point in self.index().items()},
                    {"base-act=ok": "ok", "base-act=wait": "interrupted", "base-act=later": "not run"},
                )
                report = json.loads((self.out / "base-act=wait.json").read_text())
                self.assertEqual(report["run"]["status"], "interrupted")
        self.assertEqual(len(self.calls()), 3, "ok once, wait twice")

    def test_dry_run_says_the_state_of_each_point_and_leaves_no_trace(self):
        code, stdout, _ = self.sweep("base.yaml", "--set", "a=1,2", "--dry-run")
        self.assertEqual((code, self.calls(), self.out.exists()), (0, [], False))
        self.assertEqual(
            stdout, "".join(f"base-a={a}: to run, how long is not known: no plan\n" for a in (1, 2)), "the stand-in has none"
        )
        self.sweep("base.yaml", "--set", "a=1")
        self.assertIn("base-a=1: done\nbase-a=2: to run", self.sweep("base.yaml", "--set", "a=1,2", "--dry-run")[1])
        self.assertEqual(self.sweep("base.yaml", "--set", "act=typo", "--dry-run")[0], 2)

    def test_a_wrong_sweep_is_refused_before_anything_runs(self):
        for arguments, part in (
            (["absent.yaml"], "no such file"),
            (["base.yaml", "--set", "a"], "key=value"),
            (["base.yaml", "--set", "a=1,,2"], "empty value"),
            (["base.yaml", "--set", "a=[1,2"], "lacks a closing ]"),
            (["base.yaml", "--set", "a=1", "--set", "a=2"], "twice"),
            (["base.yaml", "base.yaml"], "twice"),
            ([], "FILE"),
        ):
            with self.subTest(arguments):
                code, _, stderr = self.sweep(*arguments)
                self.assertEqual((code, self.calls()), (2, []))
                self.assertIn(part, stderr)

    def test_a_folder_that_cannot_be_made_is_told(self):
        self.out.write_text("a file")
        self.assertEqual(self.sweep("base.yaml")[0], 8)

    def test_one_sweep_a_folder(self):
        process = self.start("base.yaml", "--set", "act=wait")
        waiting = pathlib.Path(f"{self.calls_file}.waiting")
        while not waiting.exists():
            time.sleep(0.02)
        code, _, stderr = self.sweep("base.yaml", "--set", "act=ok")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(code, 2)
        self.assertIn("another sweep", stderr)

    def test_a_second_sweep_keeps_the_index_lines_of_the_first(self):
        self.sweep("base.yaml")
        self.sweep(self.spec("other spec.yaml"))
        self.assertEqual([point["status"] for point in self.index().values()], ["ok", "ok"])
        self.assertEqual(len(list(self.out.glob("*.json"))), 2)


class NamesTest(unittest.TestCase):
    def test_commas_part_values_outside_of_brackets_and_quotes(self):
        for text, values in (
            ("a,b", ["a", "b"]),
            ("1", ["1"]),
            ("[1,2],[3]", ["[1,2]", "[3]"]),
            ("{a: [1, 2], b: 3}, c", ["{a: [1, 2], b: 3}", "c"]),
            ("'a,b',c", ["'a,b'", "c"]),
            ('"a\\",b",c', ['"a\\",b"', "c"]),
            ("it's,b", ["it's", "b"]),
            ('["]",1],2', ['["]",1]', "2"]),
        ):
            self.assertEqual(sweep_points.split_list(text), values, text)

    def test_names_of_different_points_differ(self):
        names = {
            sweep_points.name_of("a.yaml", [("b", value)])
            for value in ("{x: 1}", "{x, 1}", "x/1", "x_1", "x" * 300, "x" * 301)
        }
        self.assertEqual(len(names), 6)
        for name in names:
            self.assertRegex(name, r"^[A-Za-z0-9._=+-]{1,130}$")

    def test_files_of_the_same_name_stay_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, sub, "a.yaml") for sub in ("x", "y")]
            for file in files:
                os.makedirs(os.path.dirname(file))
                pathlib.Path(file).touch()
            self.assertEqual(len({point["name"] for point in sweep_points.points_of(files, [])}), 2)


if __name__ == "__main__":
    unittest.main()
