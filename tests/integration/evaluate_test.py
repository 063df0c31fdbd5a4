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


if __name__ == "__main__":
    unittest.main()
