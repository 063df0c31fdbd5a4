"""What is printed where: stdout holds what was asked for, stderr logs and progress."""

import os
import pty
import re
import subprocess
import unittest

from runs import PROGRAM, RunTest, parse

ESCAPE = "\x1b"


class OutputTest(RunTest):
    def on_terminal(self, *arguments, stdout_too=False, **environment):
        """(stdout, what the terminal got): stderr is a terminal, stdout a pipe or the same terminal."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm", **environment},
            stdin=subprocess.DEVNULL,
            stdout=slave if stdout_too else subprocess.PIPE,
            stderr=slave,
        )
        os.close(slave)
        seen = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the last writer has closed it
                break
            if not part:
                break
            seen += part
        os.close(master)
        stdout = process.stdout.read().decode() if process.stdout else ""
        if process.stdout:
            process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0, seen)
        return stdout, seen.decode()

    def test_json_is_all_that_stdout_holds(self):
        done = self.ok("--config", self.write_spec(), "--output", "out.json", "--json")
        self.assertEqual(parse(done.stdout), self.report())
        self.assertEqual(list(self.folder.glob("reports")), [])

    def test_a_summary_on_stdout_and_plain_progress_on_stderr(self):
        done = self.ok("--config", self.write_spec(budget={"seconds": 7}), "--output", "a/new/folder/out.json")
        for word in ("mobilenet_v2", "throughput", "a/new/folder/out.json"):
            self.assertIn(word, done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        lines = [line for line in done.stderr.splitlines() if "measuring" in line]
        self.assertGreaterEqual(len(lines), 2)  # one every 5 s
        self.assertLess(len(lines), 5)
        self.assertNotIn(ESCAPE, done.stdout + done.stderr)
        self.assertNotIn("\r", done.stderr)
        self.assertNotIn("samples/s", re.sub(r"throughput.*|loader.*", "", done.stdout))

    def test_quiet_says_nothing_of_a_good_run_and_errors_of_a_bad_one(self):
        spec = self.write_spec()
        done = self.ok("--config", spec, "--output", "out.json", "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertEqual(self.report()["run"]["status"], "ok")
        bad = self.run_program("--config", spec, "--set", "model=x", "--quiet")
        self.assertEqual((bad.code, bad.stdout), (2, ""))
        self.assertIn("--set: model", bad.stderr)

    def test_a_bar_and_colours_only_on_a_terminal(self):
        words = ["--config", self.write_spec(budget={"seconds": 2}), "--output", "out.json"]
        stdout, screen = self.on_terminal(*words)
        self.assertIn("\r", screen)
        self.assertIn("measuring", screen)
        self.assertNotIn(ESCAPE, stdout)  # a file or a pipe
        _, screen = self.on_terminal(*words, stdout_too=True)
        self.assertRegex(screen, ESCAPE + r"\[3[0-9]m")
        _, screen = self.on_terminal(*words, stdout_too=True, NO_COLOR="1")
        self.assertNotRegex(screen, ESCAPE + r"\[[0-9;]*m")

    def test_a_bar_is_drawn_for_a_number_of_steps(self):
        words = ["--config", self.write_spec(budget={"steps": 60}), "--output", "out.json"]
        _, screen = self.on_terminal(*words)
        self.assertRegex(screen, r"\[#*\.*\] measuring step \d+/60")

    def test_help_fits_a_screen_and_needs_nothing(self):
        for words in (["--help"], ["-h"], ["run", "--help"], ["doctor", "--help"], ["data", "--help"], ["data", "make", "--help"]):
            done = self.ok(*words)
            self.assertEqual(done.stderr, "")
            lines = done.stdout.splitlines()
            self.assertLessEqual(len(lines), 24, words)
            self.assertLessEqual(max(map(len, lines)), 92)
        for what in ("models", "topologies", "precisions", "parallelism", "datasets", "samplers", "findings", "keys"):
            self.assertGreater(len(self.ok("list", what).stdout.splitlines()), 0, what)

    def test_version_names_all_that_is_linked(self):
        done = self.ok("--version")
        for word in ("falconbench", "LibTorch", "CUDA", "cuDNN", "NCCL", "driver", "built for", "loaded"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
