"""The resolved spec repeats the run; --set and flags reach every key."""

import json
import unittest

from runs import RunTest

SIZES = ("global_batch", "batch_per_rank", "steps_per_epoch", "dropped_per_epoch", "warmup_steps", "measured_steps")


class ResolvedSpecTest(RunTest):
    def repeated(self, spec):
        """The plan of a resolved spec, read from a file in another directory."""
        elsewhere = self.folder / "else/where"
        elsewhere.mkdir(parents=True, exist_ok=True)
        (elsewhere / "again.json").write_text(json.dumps(spec))
        return self.plan(config="else/where/again.json")

    def assert_same(self, plan, report):
        self.assertEqual(plan["spec_hash"], report["run"]["spec_hash"])
        self.assertEqual(plan["spec"], report["spec"])
        for key in (*SIZES, "memory", "ranks", "data", "parallelism", "backend"):
            self.assertEqual(plan.get(key), report["plan"].get(key), key)

    def test_the_spec_of_a_report_gives_the_same_plan_elsewhere(self):
        self.make_pictures("set", "--train", "32", "--classes", "2", "--side", "64")
        for changes in (
            {"data": {"format": "imagefolder", "path": "set"}, "devices": 2, "batch_size": {"global": 16}},
            {"data": None, "budget": {"seconds": 0.5}, "schedule": {"kind": "cosine"}, "timeout_s": 100},
        ):
            report = self.trained("run", **changes)
            self.assertEqual(set(report["spec_origin"].values()) & {""}, set())
            self.assert_same(self.repeated(report["spec"]), report)

    def test_the_hash_is_of_what_is_trained(self):
        spec = self.write_spec()
        base = self.plan(config=spec)["spec_hash"]
        for setting in ("name=other", "output=x.json", "timeout_s=9", "telemetry.samplers=[]"):
            self.assertEqual(self.plan(setting, config=spec)["spec_hash"], base, setting)
        for setting in ("seed=1", "optimizer.lr=0.5", "strict=true", "engine.deterministic=true"):
            self.assertNotEqual(self.plan(setting, config=spec)["spec_hash"], base, setting)

    def test_a_setting_is_one_yaml_value_and_the_last_one_counts(self):
        spec = self.write_spec()
        plan = self.plan("optimizer={lr: 0.5, momentum: 0.25}", "seed=1", "seed=2", config=spec)
        self.assertEqual((plan["spec"]["optimizer"]["lr"], plan["spec"]["optimizer"]["momentum"]), (0.5, 0.25))
        self.assertEqual((plan["spec"]["seed"], plan["spec_origin"]["seed"]), (2, "--set"))
        self.assertEqual(plan["spec"]["image_size"], 32)
        self.assertEqual(self.plan("telemetry.samplers=[cpu, disk]", config=spec)["spec"]["telemetry"]["samplers"],
                         ["cpu", "disk"])  # fmt: skip

    def test_a_setting_under_another_branch_of_a_choice_replaces_it(self):
        spec = self.write_spec()
        self.assertEqual(self.plan("batch_size.global=16", config=spec)["spec"]["batch_size"], {"global": 16})
        self.assertEqual(self.plan("budget.seconds=2", config=spec)["spec"]["budget"], {"seconds": 2})
        plan = self.plan("parallelism.ddp.bucket_mb=5", "devices=2", config=spec)
        self.assertEqual(plan["spec"]["parallelism"]["ddp"]["bucket_mb"], 5)

    def test_flags_are_settings(self):
        done = self.ok("--model", "resnet50", "--topology=cpu", "--devices", "1", "--warmup-steps", "3", "--seed=4",
                       "--dry-run", "--json")  # fmt: skip
        spec = json.loads(done.stdout)["spec"]
        self.assertEqual((spec["model"], spec["warmup_steps"], spec["seed"]), ("resnet50", 3, 4))

    def test_paths_of_a_file_are_relative_to_it_and_those_of_settings_to_the_caller(self):
        (self.folder / "specs").mkdir()
        self.make_pictures("set", "--train", "16", "--classes", "2", "--side", "64")
        self.make_pictures("specs/set", "--train", "24", "--classes", "2", "--side", "64")
        spec = self.write_spec("specs/run.json", data={"format": "imagefolder", "path": "set"})
        self.assertEqual(self.plan(config=spec)["data"]["folder"], str(self.folder / "specs/set"))
        self.assertEqual(self.plan("data.path=set", config=spec)["data"]["folder"], str(self.folder / "set"))


if __name__ == "__main__":
    unittest.main()
