"""scripts/setup.sh: what it installs, what it says, and that it is silent when nothing is missing."""

import hashlib
import resource
import subprocess
import sys
import unittest

from project import ROOT, ProjectTest


class PackagesTest(ProjectTest):
    def setUp(self):
        super().setUp()
        self.environment["FALCONBENCH_LIBTORCH"] = str(self.libtorch)
        self.program("id", "echo 1000")
        self.program("apt-get", 'called "$@"')

    def as_root(self, apt_get='called "$@"'):
        self.program("id", "echo 0")
        self.program("apt-get", apt_get)

    def test_nothing_is_said_or_done_when_all_is_there(self):
        self.as_root()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.assertEqual(self.script("setup.sh", "build"), (0, "", ""))
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 0.5, "seconds of CPU")
        self.assertEqual(self.calls(), [])

    def test_without_root_the_packages_and_the_command_are_named_once(self):
        self.packages("build there cmd:bash", "extra lib-one cmd:no-such-a", "check lib-two cmd:no-such-b")
        code, stdout, stderr = self.script("setup.sh", "build")
        self.assertEqual((code, stdout), (0, ""))
        self.assertIn("missing Debian packages: lib-one\n", stderr)
        self.assertIn("sudo apt-get install --no-install-recommends lib-one\n", stderr)
        self.assertEqual(self.script("setup.sh", "build"), (0, "", ""))
        self.assertEqual(self.calls(), [])

    def test_without_root_a_build_that_cannot_go_on_is_exit_3(self):
        self.packages("build lib-one inc:no/such.h", "extra there cmd:bash")
        for _ in range(2):
            code, _, stderr = self.script("setup.sh", "build")
            self.assertEqual(code, 3)
            self.assertIn("sudo apt-get install --no-install-recommends lib-one\n", stderr)
            self.assertIn("cannot go on without: lib-one", stderr)

    def test_root_installs_what_is_missing_and_nothing_else(self):
        self.packages("build there cmd:bash", "build lib-one cmd:one", "extra lib-two cmd:two")
        self.as_root(
            f'called "$@"\nlast=${{@: -1}}\n[[ $last != lib-* ]] || cp /bin/true "{self.programs}/${{last#lib-}}"'
        )
        code, _, stderr = self.script("setup.sh", "build")
        self.assertEqual(code, 0)
        self.assertIn("installing Debian packages: lib-one\n", stderr)
        update, *installs = self.calls()
        self.assertTrue(update.endswith(" update"), update)
        self.assertEqual(
            [call.split()[-2:] for call in installs],
            [["--no-install-recommends", "lib-one"], ["--no-install-recommends", "lib-two"]],
        )
        self.assertEqual(self.script("setup.sh", "build"), (0, "", ""))
        self.assertEqual(self.calls(), [])

    def test_a_failed_installation_shows_why_and_stops_only_what_needs_it(self):
        self.as_root("echo 'E: no network'; exit 100")
        self.packages("build there cmd:bash", "extra lib-two cmd:no-such")
        code, _, stderr = self.script("setup.sh", "build")
        self.assertEqual(code, 0)
        self.assertIn("E: no network", stderr)
        self.assertIn("goes on without: lib-two", stderr)
        self.assertEqual(self.script("setup.sh", "build"), (0, "", ""), "not tried with every call")
        self.packages("build lib-one cmd:no-such")
        code, _, stderr = self.script("setup.sh", "build")
        self.assertEqual(code, 3)
        self.assertIn("cannot go on without: lib-one", stderr)

    def test_what_only_the_tests_need_does_not_stop_a_build(self):
        self.packages("build there cmd:bash", "test lib-one inc:no/such.h")
        self.assertEqual(self.script("setup.sh", "build"), (0, "", ""))
        code, _, stderr = self.script("setup.sh", "test")
        self.assertEqual(code, 3)
        self.assertIn("cannot go on without: lib-one", stderr)

    def test_one_probe_that_holds_is_enough(self):
        self.packages("build lib-one cmd:no-such file:/etc/passwd")
        self.assertEqual(self.script("setup.sh", "build"), (0, "", ""))

    def test_a_list_that_cannot_be_read_is_told(self):
        self.packages("build lib-one no-such-probe")
        code, _, stderr = self.script("setup.sh", "build")
        self.assertEqual(code, 3)
        self.assertIn("'no-such-probe' is no probe", stderr)

    def test_the_shipped_list_can_be_read(self):
        sets = {"build": 0, "extra": 0, "test": 0, "check": 0, "browser": 0}
        for line in (ROOT / "scripts/packages.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                name, package, *probes = line.split()
                sets[name] += 1
                self.assertRegex(package, r"^[a-z0-9.+-]+$")
                self.assertTrue(probes, line)
                self.assertLessEqual({probe.split(":")[0] for probe in probes}, {"cmd", "inc", "file", "py"}, line)
        self.assertTrue(all(sets.values()), sets)


class WheelsTest(ProjectTest):
    """pip is a stand-in that makes what the wheels would bring."""

    PIP = """called "$@"
target=
while (( $# )); do
  if [[ $1 == --target ]]; then target=$2; fi
  shift
done
if [[ -n $target ]]; then mkdir -p "$target/nvidia/cu13/lib" "$target/torch"; fi"""

    def setUp(self):
        super().setUp()
        (self.project / "cmake/wheels.txt").write_text(
            "# pins\ntorch==2.11.0\nnvidia-cuda-nvcc==13.0.88\nnvidia-nvvm==13.0.88\n"
        )
        self.pip(self.PIP)

    def pip(self, body):
        (self.project / ".venv/bin").mkdir(parents=True, exist_ok=True)
        for name in ("pip", "python"):
            self.program("pip", body)
            (self.project / ".venv/bin" / name).write_bytes((self.programs / "pip").read_bytes())
            (self.project / ".venv/bin" / name).chmod(0o755)

    def chosen(self):
        return (self.project / "build/setup/libtorch").read_text()

    def test_all_wheels_come_with_one_command_and_once(self):
        code, stdout, stderr = self.script("setup.sh", "build")
        self.assertEqual((code, stdout), (0, ""))
        self.assertIn("fetching 3 wheels", stderr)
        calls = self.calls()
        self.assertEqual(len(calls), 1)
        self.assertTrue(calls[0].endswith("torch==2.11.0 nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88"), calls)
        self.assertIn("--no-deps", calls[0])
        deps = self.project / ".deps"
        self.assertEqual((deps / "nvidia/cu13/lib64").readlink().name, "lib")
        self.assertEqual((deps / "nvidia/cu13/lib/libcudart.so").readlink().name, "libcudart.so.13")
        self.assertEqual(self.chosen(), str(deps))
        self.assertEqual((self.script("setup.sh", "build"), self.calls()), ((0, "", ""), []))

    def test_other_pins_are_fetched_again(self):
        self.script("setup.sh", "build")
        self.calls()
        with open(self.project / "cmake/wheels.txt", "a", encoding="utf-8") as file:
            file.write("nvidia-cuda-crt==13.0.88\n")
        self.assertEqual(self.script("setup.sh", "build")[0], 0)
        self.assertIn("nvidia-cuda-crt==13.0.88", self.calls()[0])

    def test_a_broken_download_is_exit_3_and_leaves_nothing_half_done(self):
        self.pip('mkdir -p "$PWD"\necho "ERROR: connection lost"\nexit 1')
        code, _, stderr = self.script("setup.sh", "build")
        self.assertEqual(code, 3)
        self.assertIn("connection lost", stderr)
        self.assertEqual([path.name for path in self.project.glob(".deps*")], [])

    def test_a_broken_update_leaves_the_old_set(self):
        self.script("setup.sh", "build")
        with open(self.project / "cmake/wheels.txt", "a", encoding="utf-8") as file:
            file.write("nvidia-cuda-crt==13.0.88\n")
        self.pip("exit 1")
        self.assertEqual(self.script("setup.sh", "build")[0], 3)
        self.assertTrue((self.project / ".deps/torch").is_dir())

    def test_another_libtorch_is_taken_as_it_is(self):
        code, _, _ = self.script("setup.sh", "build", FALCONBENCH_LIBTORCH=str(self.libtorch))
        self.assertEqual((code, self.calls(), self.chosen()), (0, [], str(self.libtorch)))

    def test_another_libtorch_without_a_toolkit_gets_the_compiler_alone(self):
        self.program("nvcc", 'echo "Cuda compilation tools, release 12.4"')
        self.assertEqual(self.script("setup.sh", "build", FALCONBENCH_LIBTORCH=str(self.libtorch))[0], 0)
        self.assertTrue(self.calls()[0].endswith(" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88"))
        self.assertEqual(self.chosen(), str(self.libtorch))

    def test_a_libtorch_that_is_none_is_exit_3(self):
        code, _, stderr = self.script("setup.sh", "build", FALCONBENCH_LIBTORCH=str(self.project))
        self.assertEqual(code, 3)
        self.assertIn("does not hold torch/include", stderr)

    def test_the_torch_of_python3_is_taken_when_it_is_the_pinned_one(self):
        site = self.project / "site"
        for name, version in (
            ("torch", "2.11.0+cu130"),
            ("nvidia_nccl_cu13", "2.28.9"),
            ("nvidia_cudnn_cu13", "9.19.0.56"),
        ):
            (site / f"{name}-{version}.dist-info").mkdir(parents=True)
            (site / f"{name}-{version}.dist-info/METADATA").write_text(
                f"Name: {name.replace('_', '-')}\nVersion: {version}\n"
            )
        pins = (ROOT / "cmake/wheels.txt").read_text()
        (self.project / "cmake/wheels.txt").write_text(pins)
        self.program("python3", f'exec "{sys.executable}" "$@"')
        self.assertEqual(self.script("setup.sh", "build", PYTHONPATH=str(site))[0], 0)
        self.assertEqual((self.calls(), self.chosen()), ([], str(site)))
        (self.project / "cmake/wheels.txt").write_text(pins.replace("torch==2.11.0", "torch==2.11.1"))
        self.script("setup.sh", "build", PYTHONPATH=str(site))
        self.assertEqual((len(self.calls()), self.chosen()), (1, str(self.project / ".deps")))

    def test_the_tools_of_the_tests_come_once_and_only_for_them(self):
        self.script("setup.sh", "build", FALCONBENCH_LIBTORCH=str(self.libtorch))
        self.assertEqual(self.calls(), [])
        self.script("setup.sh", "test", FALCONBENCH_LIBTORCH=str(self.libtorch))
        self.assertTrue(self.calls()[0].endswith("test_wheels.txt"))
        stamp = hashlib.sha256((self.project / "cmake/test_wheels.txt").read_bytes()).hexdigest()
        self.assertIn(stamp, (self.project / ".venv/.wheels").read_text())
        self.assertEqual(self.script("setup.sh", "test", FALCONBENCH_LIBTORCH=str(self.libtorch)), (0, "", ""))

    def test_two_at_once_fetch_once(self):
        self.pip(self.PIP + "\nsleep 0.5")
        both = [
            subprocess.Popen([self.project / "scripts/setup.sh"], env=self.environment, stderr=subprocess.DEVNULL)
            for _ in range(2)
        ]
        self.assertEqual([process.wait(timeout=60) for process in both], [0, 0])
        self.assertEqual(len(self.calls()), 1)


if __name__ == "__main__":
    unittest.main()
