"""evaluate of a detector: the mean average precision on pictures with boxes, in both label forms."""

import json
import unittest

from runs import RunTest

DETECTOR = {"model": "yolov5n", "image_size": 96, "batch_size": {"per_gpu": 8}, "evaluate": True}
LEARNING = {"optimizer": {"lr": 0.03}, "schedule": {"kind": "constant"}}
# A rate of 0 keeps the weights of a file; the statistics of batch normalisation move in the one step.
STILL = {"optimizer": {"lr": 0, "weight_decay": 0}, "schedule": {"kind": "constant"}, "budget": {"steps": 1}}


class EvaluateDetectionTest(RunTest):
    def boxes(self, form, **changes):
        """Eight pictures to train on, and forty others."""
        if not (self.folder / form).exists():
            self.ok("data", "make", form, form, "--train", "8", "--val", "40", "--classes", "2", "--side", "64",
                    "--boxes", "2")  # fmt: skip
        return {"format": form, "path": form, "augment": "none", **changes}

    def accuracy(self, report, samples):
        self.assert_valid(report)
        training = report["training"]
        self.assertEqual(training["evaluation"]["samples"], samples)
        self.assertEqual(sorted(training["accuracy"]), ["map50", "map50_95"])
        return training["accuracy"]

    def refused(self, words, **changes):
        """Before any worker starts."""
        done = self.run_program("--config", self.write_spec(**{**DETECTOR, **changes}), "--output", "out.json")
        self.assertEqual(done.code, 3, done)
        report = self.report()
        self.assertEqual((report["error"]["kind"], report["ranks"]), ("host", []))
        for word in words:
            self.assertIn(word, report["error"]["message"])

    def test_boxes_are_learned_and_measured_alike_in_both_forms_and_by_all_ranks(self):
        changes = {**DETECTOR, **LEARNING}
        data = self.boxes("coco", val="train")
        early = self.trained("early", data=data, budget={"steps": 2}, **changes)
        self.assertLess(self.accuracy(early, 8)["map50"], 0.1)
        learned = self.trained("learned", data=data, budget={"steps": 200}, save_weights="w.safetensors", **changes)
        accuracy = self.accuracy(learned, 8)
        self.assertGreater(accuracy["map50"], 0.5)
        self.assertGreater(accuracy["map50"], accuracy["map50_95"])
        measured = []
        for devices, form in ((1, "coco"), (2, "coco"), (2, "yolo")):
            report = self.trained("still", data=self.boxes(form, val="train"), devices=devices, init="w.safetensors",
                                  **{**DETECTOR, **STILL, "batch_size": {"per_gpu": 4}})  # fmt: skip
            measured.append(self.accuracy(report, 8))
        self.assertEqual(measured[1], measured[0])
        self.assertEqual(measured[2], measured[0])

    def test_it_is_the_average_that_is_evaluated(self):
        """The average changes nothing else: the losses are the same."""
        seen = []
        for decay in (0, 0.9999):
            report = self.trained("run", data=self.boxes("yolo"), budget={"steps": 40},
                                  **{**DETECTOR, **LEARNING, "optimizer": {"lr": 0.03, "ema_decay": decay}})  # fmt: skip
            seen.append((report["training"]["loss"]["series"], self.accuracy(report, 40)))
        self.assertEqual(seen[0][0], seen[1][0])
        self.assertNotEqual(seen[0][1], seen[1][1])

    def test_the_other_pictures_and_made_samples(self):
        for form in ("coco", "yolo"):
            self.accuracy(self.trained(form, data=self.boxes(form), **{**DETECTOR, **STILL}), 40)
        made = self.trained("made", **{**DETECTOR, **STILL, "image_size": 32})
        self.accuracy(made, 512)

    def test_without_the_part_nothing_starts(self):
        self.refused(["yolo", "images/none or none/images"], data=self.boxes("yolo", val="none"))
        self.refused(["annotations/instances_none.json"], data=self.boxes("coco", val="none"))

    def test_a_category_that_is_not_trained_is_refused(self):
        data = self.boxes("coco")
        path = self.folder / "coco/annotations/instances_val.json"
        annotations = json.loads(path.read_text())
        annotations["categories"].append({"id": 7, "name": "horse"})
        path.write_text(json.dumps(annotations))
        self.refused(["instances_val.json", "7 (horse)", "instances_train.json"], data=data)


if __name__ == "__main__":
    unittest.main()
