"""scripts/run.sh and scripts/test.sh over a stand-in for CMake."""

import pathlib
import signal
import subprocess
import time
import unittest

from project import ProjectTest

CMAKE = r"""called "$@"
build="%s/build"
if [[ $1 == --preset ]]; then
  mkdir -p "$build"; touch "$build/build.ninja"
elif [[ -e "%s/broken" ]]; then
  echo "[1/9] a.cpp"; echo "FAILED: a.cpp"; echo "a.cpp:1: error: not C++"; exit 1
else
  [[ -e $build/bin/falconbench ]] || echo "[1/9] a.cpp"
  echo "[2/2] the git revision"
  mkdir -p "$build/bin"; cp "%s/program" "$build/bin/falconbench"
fi"""
PROGRAM = r"""#!/bin/bash
if [[ $1 == --wait ]]; then touch waiting; exec sleep 60; fi
pwd; printf '<%s>' "$@"; exit "${CODE:-0}"
"""


class RunTest(ProjectTest):
    def setUp(self):
        super().setUp()
        self.environment["FALCONBENCH_LIBTORCH"] = str(self.libtorch)
        self.program("cmake", CMAKE % (self.project, self.project, self.project))
        self.program("ctest", 'printf "<%s>" "$@"')
        (self.project / ".venv/bin").mkdir(parents=True)
        for name in ("pip", "python"):
            (self.project / ".venv/bin" / name).symlink_to("/bin/true")
        program = self.project / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        self.elsewhere = self.project / "else where"
        self.elsewhere.mkdir()

    def start(self, *arguments, **more):
        return subprocess.Popen(
            [self.project / "scripts/run.sh", *arguments],
            cwd=self.elsewhere,
            text=True,
            env={**self.environment, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def test_folder_arguments_and_exit_code_are_the_programs_own(self):
        process = self.start("--config", "a b.yaml", "", CODE="5")
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 5)
        self.assertEqual(stdout, f"{self.elsewhere}\n<--config><a b.yaml><>")
        self.assertIn("build: compiling", stderr)

    def test_silent_when_up_to_date_and_configured_once(self):
        self.start().communicate(timeout=60)
        self.assertEqual(len(self.calls()), 2)
        self.assertEqual(self.start("x").communicate(timeout=60), (f"{self.elsewhere}\n<x>", ""))
        calls = self.calls()
        self.assertEqual(len(calls), 1)
        self.assertTrue(calls[0].endswith("--target falconbench falconbench_engine"), calls)

    def test_signals_reach_the_program(self):
        process = self.start("--wait")
        deadline = time.monotonic() + 30
        name = pathlib.Path(f"/proc/{process.pid}/comm")
        while name.read_text() != "sleep\n" and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(name.read_text(), "sleep\n", "run.sh ends in exec")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_a_failed_build_shows_the_error_and_runs_nothing(self):
        (self.project / "broken").touch()
        process = self.start("x")
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual((process.returncode, stdout), (1, ""))
        self.assertIn("a.cpp:1: error: not C++", stderr)

    def test_another_libtorch_is_configured_afresh(self):
        self.script("run.sh")
        self.calls()
        other = self.project / "other"
        self.libtorch.rename(other)
        self.script("run.sh", FALCONBENCH_LIBTORCH=str(other))
        self.assertIn("--fresh", self.calls()[0])

    def test_tests_are_configured_and_built_only_for_test_sh(self):
        self.script("run.sh")
        self.assertIn("FALCONBENCH_TESTS=OFF", self.calls()[0])
        code, stdout, _ = self.script("test.sh", "-L", "unit")
        calls = self.calls()
        self.assertIn("FALCONBENCH_TESTS=ON", calls[0])
        self.assertTrue(calls[1].endswith("/build"), calls)
        self.assertEqual(code, 0)
        self.assertTrue(stdout.startswith(f"<--test-dir><{self.project}/build><--output-on-failure><--no-tests=error>"))
        self.assertTrue(stdout.endswith("<-L><unit>"), stdout)
        self.script("run.sh")
        self.assertEqual(len(self.calls()), 1, "run.sh leaves the configuration of the tests alone")

    def test_a_failed_build_is_a_failed_test_run(self):
        (self.project / "broken").touch()
        code, stdout, _ = self.script("test.sh")
        self.assertEqual((code, stdout), (1, ""))

    def test_two_at_once_build_one_after_the_other(self):
        both = [self.start("x") for _ in range(2)]
        self.assertEqual([process.communicate(timeout=60)[0] for process in both], [f"{self.elsewhere}\n<x>"] * 2)


if __name__ == "__main__":
    unittest.main()
