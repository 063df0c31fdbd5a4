"""The shipped specs: the smoke run, the quickstart, and a plan of each of the others."""

import math
import shutil
import unittest

from runs import ROOT, RunTest, parse


class SmokeTest(RunTest):
    def test_smoke_run_is_short_and_its_report_valid(self):
        done = self.ok("--config", str(ROOT / "configs/smoke.yaml"), "--output", "out.json", "--topology", "cpu")
        self.assertLess(done.seconds, 60)
        report = self.report()
        self.assert_valid(report)
        self.assertEqual((report["run"]["status"], report["run"]["exit_code"]), ("ok", 0))
        training = report["training"]
        self.assertEqual((training["steps"], training["warmup_steps"], training["samples"]), (10, 2, 80))
        self.assertTrue(all(math.isfinite(loss) for loss in training["loss"]["series"]))
        self.assertAlmostEqual(
            training["throughput"]["samples_per_s"], training["samples"] / training["measured_s"], delta=1e-6
        )
        phases = [phase["mean"] for phase in training["phases_ms"].values() if isinstance(phase, dict)]
        mean = training["step_time_ms"]["mean"]
        self.assertAlmostEqual(sum(phases), mean, delta=0.02 * mean)
        self.assertLess(report["run"]["launcher_peak_rss_bytes"], 100e6)

    def test_quickstart_makes_its_pictures_once_and_both_ranks_train_one_model(self):
        (self.folder / "configs").mkdir()
        shutil.copy(ROOT / "configs/quickstart.yaml", self.folder / "configs")
        small = ["--config", "configs/quickstart.yaml", "--topology", "cpu", "--output", "out.json"]
        small += ["--set", "data.make.train=64", "--set", "budget.steps=3", "--set", "warmup_steps=1"]
        self.ok(*small)
        report = self.report()
        self.assert_valid(report)
        self.assertEqual(report["run"]["status"], "ok")
        self.assertEqual(report["plan"]["backend"], "gloo")
        self.assertTrue(all(math.isfinite(loss) for loss in report["training"]["loss"]["series"]))
        hashes = [rank["parameter_hash"] for rank in report["ranks"]]
        self.assertEqual(len(hashes), 2)
        self.assertEqual(hashes[0], hashes[1])

        pictures = sorted((self.folder / "data/quickstart/train").rglob("*.jpg"))
        self.assertEqual(len(pictures), 64)
        before = [path.stat().st_mtime_ns for path in pictures]
        self.ok(*small)
        self.assertEqual([path.stat().st_mtime_ns for path in pictures], before)

    def test_detection_trains_one_model_on_both_ranks(self):
        small = "topology=cpu", "image_size=64", "batch_size.per_gpu=2", "data.samples=64", "model_options.classes=3"
        short = "model=yolov5n", "budget.steps=3", "warmup_steps=1"
        self.ok(*[word for setting in (*small, *short) for word in ("--set", setting)], "--output", "out.json")
        report = self.report()
        self.assert_valid(report)
        self.assertTrue(all(math.isfinite(loss) for loss in report["training"]["loss"]["series"]))
        self.assertEqual(report["training"]["model"]["parameters"], 1872157 - 77 * 1353)
        hashes = [rank["parameter_hash"] for rank in report["ranks"]]
        self.assertEqual(len(hashes), 2)
        self.assertEqual(hashes[0], hashes[1])

    def test_every_shipped_spec_has_a_plan(self):
        shipped = sorted((ROOT / "configs").glob("*.yaml")) + sorted((ROOT / "configs/models").glob("*.yaml"))
        self.assertGreaterEqual(len(shipped), 11)
        for path in shipped:
            with self.subTest(spec=path.name):
                words = ["--config", str(path), "--topology", "cpu", "--dry-run", "--json"]
                done = self.run_program(*words)
                if done.code == 3:  # a model's own spec may name a data folder that only its user has
                    self.assertIn("data", done.stderr)
                    continue
                self.assertEqual(done.code, 0, done)
                plan = parse(done.stdout)
                self.assertGreater(plan["global_batch"], 0)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if "std" not in path.name), [])

    def test_the_studys_workloads_have_its_sizes(self):
        """On this host they lack the GPUs and the data, so both are put in the place of the study's."""
        sizes = {"mobilenet_v2": (512, 10), "resnet50": (1024, 20), "yolov5l": (88, 20), "bert_base": (96, 2),
                 "bert_large": (48, 2)}  # fmt: skip
        self.assertEqual(sorted(path.stem for path in (ROOT / "configs/paper").glob("*.yaml")), sorted(sizes))
        for name, (batch, epochs) in sizes.items():
            with self.subTest(spec=name):
                given = ["--config", str(ROOT / f"configs/paper/{name}.yaml"), "--dry-run", "--json"]
                done = self.run_program(*given)
                self.assertEqual(done.code, 3, done)
                self.assertIn("localGPUs", done.stderr)
                here = "topology=cpu", "precision=fp32", "data={format: synthetic}"
                done = self.run_program(*given, *[word for setting in here for word in ("--set", setting)])
                self.assertEqual(done.code, 0, done)
                plan = parse(done.stdout)
                self.assertEqual(plan["global_batch"], batch)
                self.assertEqual(plan["measured_steps"], epochs * plan["steps_per_epoch"])
                self.assertEqual(plan["checkpoint_steps"], plan["steps_per_epoch"])

    def test_bert_on_a_chassis_says_what_this_host_lacks(self):
        done = self.run_program("--config", str(ROOT / "configs/bert_large_falcon.json"), "--dry-run")
        self.assertEqual(done.code, 3, done)
        self.assertIn("falconGPUs", done.stderr)
        small = "model_options={layers: 1, hidden_size: 16, heads: 2}", "topology=cpu", "precision=fp32", "devices=2"
        short = "sequence_length=32", "budget.steps=3", "warmup_steps=1"
        settings = [word for setting in (*small, *short) for word in ("--set", setting)]
        self.ok("--config", str(ROOT / "configs/bert_large_falcon.json"), *settings, "--output", "out.json")
        report = self.report()
        self.assert_valid(report)
        self.assertEqual(report["training"]["global_batch_size"], 12)
        self.assertTrue(all(math.isfinite(loss) for loss in report["training"]["loss"]["series"]))
        hashes = [rank["parameter_hash"] for rank in report["ranks"]]
        self.assertEqual(hashes[0], hashes[1])


if __name__ == "__main__":
    unittest.main()
