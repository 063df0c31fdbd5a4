"""evaluate: what was learned, on samples that were not trained on."""

import shutil
import unittest

from runs import RunTest


class EvaluateTest(RunTest):
    def pictures(self):
        if not (self.folder / "set").exists():
            self.make_pictures("set", "--train", "96", "--val", "30", "--classes", "3", "--side", "48")
        return {"format": "imagefolder", "path": "set"}

    def test_made_classes_are_learned(self):
        report = self.trained(
            "run",
            data=self.pictures(),
            batch_size={"per_gpu": 16},
            budget={"steps": 60},
            optimizer={"lr": 0.05},
            schedule={"kind": "constant"},
            evaluate=True,
        )
        self.assert_valid(report)
        training = report["training"]
        self.assertGreater(training["accuracy"]["top1"], 0.6)  # a third is chance
        self.assertEqual(training["accuracy"]["top5"], 1)
        self.assertEqual((training["evaluation"]["samples"], report["plan"]["data"]["validation"]), (30, 30))
        self.assertGreater(training["evaluation"]["time_s"], 0)
        spent = training["measured_s"] + training["evaluation"]["time_s"]
        self.assertGreaterEqual(training["training_time_s"], spent)
        self.assertLess(training["training_time_s"], spent + 1)

    def test_the_ranks_share_the_samples(self):
        """The same weights, so the same accuracy; a damaged picture counts on no rank."""
        data = self.pictures()
        picture = min((self.folder / "set/val").rglob("*.jpg"))
        whole = picture.read_bytes()
        picture.write_bytes(whole[: len(whole) // 2])
        self.trained("weights", data=data, save_weights="w.safetensors", budget={"steps": 10})
        seen = []
        for devices, batch in ((1, 8), (2, 8), (2, 3)):
            report = self.trained(f"{devices}{batch}", data=data, devices=devices, batch_size={"per_gpu": batch},
                                  init="w.safetensors", optimizer={"lr": 0, "weight_decay": 0},
                                  budget={"steps": 1}, evaluate=True)  # fmt: skip
            evaluation = report["training"]["evaluation"]
            seen.append((evaluation["samples"], evaluation["skipped"]))
        self.assertEqual(seen, [(29, 1)] * 3)

    def test_the_labels_are_those_of_the_training_classes(self):
        data = self.pictures()
        shutil.rmtree(min((self.folder / "set/val").iterdir()))
        report = self.trained("run", data=data, budget={"steps": 1}, evaluate=True)
        self.assertEqual(report["training"]["evaluation"]["samples"], 20)
        (self.folder / "set/val/unknown").mkdir()
        done = self.run_program("--config", self.write_spec(data=data, evaluate=True), "--output", "out.json")
        self.assertEqual(done.code, 3, done)
        self.assertIn("unknown", self.report()["error"]["message"])

    def test_made_samples_are_other_ones_and_off_says_so(self):
        report = self.trained("run", budget={"steps": 1}, evaluate=True)
        self.assertEqual(report["training"]["evaluation"]["samples"], 512)
        off = self.trained("off", budget={"steps": 1})["training"]
        self.assertEqual(off["accuracy_reason"], "evaluate is off")


class AnswersTest(RunTest):
    """Question answering: a small encoder on made SQuAD sets."""

    def trained_on(self, name, data, **changes):
        encoder = {
            "model": "bert_base",
            "model_options": {"layers": 2, "hidden_size": 32, "heads": 2, "dropout": 0},
            "image_size": None,
            "sequence_length": 96,
            "optimizer": {"lr": 0.002},
            "schedule": {"kind": "constant"},
        }
        data = {"format": "squad", "doc_stride": 32, **data}
        return self.trained(name, data=data, evaluate=True, **{**encoder, **changes})

    def make_questions(self, version, train=24, val=20):
        self.ok("data", "make", "squad", version, "--train", str(train), "--val", str(val), "--version", version)

    def test_what_was_trained_on_is_answered(self):
        self.make_questions("v1.1", train=6)
        data = {"path": "v1.1", "val": "train-v1.1.json"}
        new = self.trained_on("new", data, budget={"steps": 1}, optimizer={"lr": 0, "weight_decay": 0})
        report = self.trained_on("run", data, budget={"steps": 150})
        self.assert_valid(report)
        before, after = new["training"]["accuracy"], report["training"]["accuracy"]
        self.assertEqual(set(after), {"exact_match", "f1"})
        self.assertLess(before["exact_match"], 0.5)
        self.assertGreater(after["exact_match"], 0.8)
        self.assertGreaterEqual(after["f1"], after["exact_match"])
        self.assertLessEqual(after["f1"], 1)
        samples = report["training"]["evaluation"]["samples"]
        self.assertEqual(samples, report["plan"]["data"]["validation"])
        self.assertGreater(samples, 6)  # windows: the texts are longer than one

    def test_the_ranks_share_the_windows(self):
        """The same weights, so the same answers, where the windows of a question meet from several ranks."""
        for version in ("v1.1", "v2.0"):
            self.make_questions(version)
            data = {"path": version, "train": f"train-{version}.json"}
            self.trained_on(f"first-{version}", data, save_weights=f"{version}.safetensors", budget={"steps": 30})
            seen = []
            for devices, batch in ((1, 8), (2, 8), (2, 4)):
                name = f"{version}-{devices}-{batch}"
                report = self.trained_on(name, data, devices=devices, batch_size={"per_gpu": batch},
                                         init=f"{version}.safetensors", optimizer={"lr": 0, "weight_decay": 0},
                                         budget={"steps": 1})  # fmt: skip
                self.assertEqual(report["spec"]["data"]["val"], f"dev-{version}.json")
                seen.append((report["training"]["evaluation"]["samples"], report["training"]["accuracy"]))
            self.assertEqual(seen, [seen[0]] * 3)
            self.assertGreater(seen[0][1]["f1"], 0)

    def test_the_files_are_those_of_the_made_version(self):
        made = {"train": 24, "val": 8, "version": "v2.0"}
        self.trained_on("first", {"path": "made", "make": made}, budget={"steps": 1})
        report = self.trained_on("again", {"path": "made", "make": made}, budget={"steps": 1})
        data = report["spec"]["data"]
        self.assertEqual((data["train"], data["val"]), ("train-v2.0.json", "dev-v2.0.json"))
        self.assertIn("data.make.version", report["spec_origin"]["data.val"])

    def test_what_cannot_be_measured_is_told_before_the_training(self):
        spec = self.write_spec(model="bert_base", image_size=None, evaluate=True)
        done = self.run_program("--config", spec, "--dry-run")
        self.assertEqual(done.code, 2, done)
        self.assertIn("data.format squad", done.stderr)
        self.make_questions("v1.1", val=0)
        squad = {"format": "squad", "path": "v1.1"}
        spec = self.write_spec(model="bert_base", image_size=None, evaluate=True, data=squad)
        done = self.run_program("--config", spec, "--dry-run")
        self.assertEqual(done.code, 3, done)
        self.assertIn("dev-v1.1.json: no such file (data.val); there: train-v1.1.json", done.stderr)


if __name__ == "__main__":
    unittest.main()
