"""scripts/paper_matrix.sh over a stand-in for falconbench: what it makes of the paper's matrix for two GPUs."""

import json
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRIPT = ROOT / "scripts/paper_matrix.sh"
POINTS = 5 * 3 + 5 * 2 + 3 + 1 + 3  # topologies, storages, and of BERT-large fp32, dp (on local GPUs) and sharded
LONG_S = 200
MADE = ("configs", "data", "mounts")  # and system-*.json


class PaperMatrixTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve()
        self.out = self.folder / "an output"
        self.calls = self.folder / "calls"

    def start(self, *words, **world):
        environment = {**os.environ, "FALCONBENCH": str(HERE / "fake_machine.py"), "FAKE_CALLS": str(self.calls)}
        return subprocess.Popen(
            [SCRIPT, "--output-dir", "an output", *words],
            cwd=self.folder,
            env={**environment, "FAKE_WORLD": json.dumps(world)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def matrix(self, *words, **world):
        """(exit code, output)."""
        process = self.start(*words, **world)
        output, _ = process.communicate(timeout=LONG_S)
        return process.returncode, output

    def called(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def runs(self):
        return [line for line in self.called() if line.startswith("--config") and " --output " in line]

    def made(self):
        paths = [path for name in MADE for path in (self.out / name).rglob("*")] + list(self.out.glob("system-*.json"))
        return {str(path): path.read_bytes() for path in paths if path.is_file()}

    def grids(self):
        lines = [shlex.split(line, comments=True) for line in (self.out / "configs/paper/sweep.txt").read_text().splitlines()]
        return [(words[0], dict(word.split("=", 1) for word in words[1:])) for words in lines if words]

    def test_the_whole_matrix_and_called_again(self):
        code, output = self.matrix()
        self.assertEqual(code, 0, output)
        self.assertIn(f"{POINTS} points: {POINTS} ok", output)
        self.assertEqual(len(self.runs()), POINTS)
        self.assertIn("parallelism=dp runs on localGPUs only", output)
        self.check_grids()
        self.check_systems()
        self.check_data()
        specs = {path.stem: path.read_text() for path in (self.out / "configs/paper").glob("*.yaml")}
        self.assertEqual(set(specs), {path.stem for path in (ROOT / "configs/paper").glob("*.yaml")})
        for model, batch in {"bert_base": 12, "bert_large": 6, "yolov5l": 11, "resnet50": 128, "mobilenet_v2": 64}.items():
            self.assertIn(f"\nbatch_size: {{per_gpu: {batch}}}\n", specs[model])
        self.assertIn("annotations/instances_train.json", specs["yolov5l"])
        claims = (self.out / "claims.md").read_text()
        self.assertIn(claims, output)
        self.assertIn("bert_large hybridGPUs +150.0 % (emulated), bert_large falconGPUs +150.0 % (emulated)", claims)
        self.assertIn("falconNVMe is a folder of this host", claims)
        self.assertEqual(len([line for line in self.called() if line.startswith(f"report {self.out}/study --html ")]), 1)
        before = self.made()
        self.assertEqual(len(before), 6 + 3 * 3 + 3)
        self.calls.unlink()
        code, output = self.matrix()
        self.assertEqual(code, 0, output)
        self.assertEqual(self.made(), before)
        self.assertEqual(self.runs(), [])

    def check_grids(self):
        grids = self.grids()
        for name, settings in grids:
            topology = settings["topology"]
            self.assertEqual(settings["system"], f"system-{topology.removesuffix('GPUs')}.json")
            staged = None if topology == "localGPUs" else "{falcon_link: host_staged}"
            self.assertEqual(settings.get("emulate"), staged, (name, settings))
        self.assertEqual([s["topology"] for name, s in grids if name == "*"], ["localGPUs", "hybridGPUs", "falconGPUs"])
        self.assertEqual([s["topology"] for _, s in grids if s.get("parallelism") == "dp"], ["localGPUs"])
        self.assertEqual([s["batch_size"] for _, s in grids if s.get("parallelism") == "sharded"], ["{per_gpu: 10}"] * 3)
        stored = [settings for _, settings in grids if "storage" in settings]
        self.assertEqual([settings["storage"] for settings in stored], ["localNVMe,falconNVMe"] * 5)

    def check_systems(self):
        for name, playing in {"local": [None, None], "hybrid": [None, True], "falcon": [True, True]}.items():
            system = json.loads((self.out / f"system-{name}.json").read_text())
            self.assertEqual([gpu.get("emulated") for gpu in system["gpus"].values()], playing)
            self.assertEqual([gpu["uuid"] for gpu in system["gpus"].values()], ["GPU-0", "GPU-1"])
            for gpu in system["gpus"].values():
                self.assertEqual(gpu.get("attach"), "falcon" if gpu.get("emulated") else None)
            mounts = {key: (one["mount"], one["attach"]) for key, one in system["storage"].items()}
            self.assertEqual(mounts, {f"{at}NVMe": (str(self.out / "mounts" / at), at) for at in ("local", "falcon")})

    def check_data(self):
        made = {
            "imagenet": f"imagefolder --train {24 * 256} --side 256",
            "coco": f"coco --train {24 * 22} --side 640",
            "squad": f"squad --train {24 * 24}",
        }
        for place in ("data", "mounts/local", "mounts/falcon"):
            self.assertEqual({path.name: (path / "made").read_text() for path in (self.out / place).iterdir()}, made)

    def hanging(self):
        """A call that is in the middle of the matrix."""
        process = self.start(hanging="resnet50")
        end = time.monotonic() + LONG_S
        while not any("resnet50" in line for line in self.runs()) and time.monotonic() < end:
            time.sleep(0.05)
        return process

    def test_killed_it_goes_on(self):
        process = self.hanging()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LONG_S)
        done = len(self.runs()) - 1
        self.assertGreater(done, 0)
        self.calls.unlink()
        code, output = self.matrix()
        self.assertEqual(code, 0, output)
        self.assertEqual(len(self.runs()), POINTS - done)

    def test_told_to_end_it_ends_with_the_sweep(self):
        process = self.hanging()
        process.terminate()
        output, _ = process.communicate(timeout=LONG_S)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, output)
        self.assertFalse((self.out / "claims.md").exists())

    def test_a_point_that_fails_is_said(self):
        code, output = self.matrix(failing="yolov5l")
        self.assertEqual(code, 4, output)
        self.assertIn(f"{POINTS} points: {POINTS - 5} ok, 5 failed", output)
        self.assertTrue((self.out / "claims.md").exists())

    def test_a_look_before_runs_nothing(self):
        code, output = self.matrix("--dry-run")
        self.assertEqual(code, 0, output)
        self.assertEqual(output.count(": to run"), POINTS)
        self.assertEqual(self.runs(), [])

    def test_mounts_by_name(self):
        code, output = self.matrix("--mount-falcon", "a drive", "--dry-run")
        self.assertEqual(code, 0, output)
        self.assertTrue((self.folder / "a drive/squad/made").exists())
        self.assertFalse((self.out / "mounts/falcon").exists())
        self.assertNotIn("falconNVMe is a folder", output)

    def test_needs_two_gpus(self):
        for gpus in (0, 1):
            code, output = self.matrix(gpus=gpus)
            self.assertEqual(code, 3)
            self.assertIn("this host has no two GPUs", output)
        self.assertFalse(self.out.exists())

    def test_another_data_set_is_refused(self):
        self.matrix("--dry-run")
        code, output = self.matrix("--steps", "4")
        self.assertEqual(code, 2)
        self.assertIn("is no data set of --steps 4", output)


if __name__ == "__main__":
    unittest.main()
