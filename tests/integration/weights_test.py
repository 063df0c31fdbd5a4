"""init, save_weights and checkpoint: weights out of one run and into another."""

import unittest

import safetensors_file
from runs import RunTest

SMALL = {"model_options": {"classes": 4}}


class WeightsTest(RunTest):
    def losses(self, report):
        return report["training"]["loss"]["series"]

    def test_saved_weights_are_where_the_next_run_starts(self):
        saved = self.trained("saved", save_weights="kept/w.safetensors", **SMALL)
        self.assert_valid(saved)
        # the spec lies in the test's folder, and so do its relative paths
        path = self.folder / "kept/w.safetensors"
        told = saved["training"]["saved_weights"]
        self.assertEqual((told["file"], told["bytes"]), (str(path), path.stat().st_size))
        self.assertEqual(saved["training"]["initial_weights"]["source"], "random")
        tensors, metadata = safetensors_file.read(path)
        self.assertEqual(metadata, {"format": "pt"})
        self.assertEqual(len(tensors), 314)
        self.assertEqual(tensors["classifier.1.weight"][:2], ("F32", [4, 1280]))
        self.assertEqual(tensors["features.0.1.num_batches_tracked"][:2], ("I64", []))
        # a rate of 0 changes nothing, so what comes in goes out
        still = self.trained("still", init="kept/w.safetensors", save_weights="again.safetensors",
                             optimizer={"lr": 0, "weight_decay": 0}, **SMALL)  # fmt: skip
        again, _ = safetensors_file.read(self.folder / "again.safetensors")
        weights = [name for name in tensors if "running" not in name and "num_batches" not in name]
        self.assertEqual([name for name in weights if again[name] != tensors[name]], [])
        initial = still["training"]["initial_weights"]
        self.assertEqual((initial["source"], initial["loaded"], initial["missing"]), (str(path), 314, 0))
        self.assertNotEqual(self.losses(still)[0], self.losses(saved)[0])

    def test_a_file_of_others(self):
        """Sixteen bits, other names, a tensor too few and one too many."""
        self.trained("saved", save_weights="w.safetensors", budget={"steps": 1}, **SMALL)
        tensors, _ = safetensors_file.read(self.folder / "w.safetensors")
        narrow = {name: safetensors_file.narrowed(tensor) for name, tensor in tensors.items()}
        lost = narrow.pop("classifier.1.bias")
        narrow["extra"] = lost
        safetensors_file.write(self.folder / "n.safetensors", {f"module.{k}": v for k, v in narrow.items()})
        report = self.trained("run", init="n.safetensors", optimizer={"lr": 0}, save_weights="out.safetensors", **SMALL)
        self.assert_valid(report)
        initial = report["training"]["initial_weights"]
        self.assertEqual(initial["missing_names"], ["classifier.1.bias"])
        self.assertEqual(initial["unused_names"], ["module.extra"])
        finding = next(finding for finding in report["findings"] if finding["id"] == "weights_missing")
        self.assertIn("1 of 314: classifier.1.bias", finding["evidence"])
        out, _ = safetensors_file.read(self.folder / "out.safetensors")
        name = "features.0.0.weight"
        self.assertEqual(out[name], safetensors_file.widened(narrow[name]))

    def test_a_file_of_another_shape_is_a_fault_of_the_spec(self):
        self.trained("saved", save_weights="w.safetensors", budget={"steps": 1}, **SMALL)
        for devices in (1, 2):
            spec = self.write_spec(init="w.safetensors", model_options={"classes": 5}, devices=devices)
            done = self.run_program("--config", spec, "--output", "out.json")
            self.assertEqual(done.code, 2, done)
            self.assertIn("classifier.1.weight: has shape [4, 1280], the model's is [5, 1280]", done.stderr)
            self.assertIn("w.safetensors", done.stderr)
            self.assertFalse((self.folder / "out.json").exists())

    def test_a_broken_file_starts_nothing(self):
        path = self.folder / "w.safetensors"
        self.trained("saved", save_weights="w.safetensors", budget={"steps": 1}, **SMALL)
        path.write_bytes(path.read_bytes()[:-1])
        done = self.run_program("--config", self.write_spec(init="w.safetensors"), "--dry-run")
        self.assertEqual(done.code, 2, done)
        self.assertIn("w.safetensors: tensor", done.stderr)

    def test_a_place_that_cannot_be_written_starts_nothing(self):
        (self.folder / "file").write_text("")
        for changes in ({"save_weights": "file/w.safetensors"}, {"checkpoint": {"path": "file", "every": 1}}):
            done = self.run_program("--config", self.write_spec(**changes), "--output", "out.json")
            self.assertEqual(done.code, 3, done)
            self.assertEqual(self.report()["error"]["kind"], "host")

    def test_a_run_goes_on_from_a_checkpoint(self):
        """With dropout, a schedule and a moving average, on one rank and on two, in other blocks of steps."""
        for devices, batch in ((1, 8), (2, 4)):
            changes = {"devices": devices, "batch_size": {"per_gpu": batch}, "seed": 3,
                       "data": {"format": "synthetic", "samples": 24},
                       "optimizer": {"lr": 0.01, "ema_decay": 0.99}}  # fmt: skip
            kept = {"every": 4, "path": "kept"}
            whole = self.trained("whole", budget={"steps": 9}, save_weights="whole.safetensors", **changes)
            first = self.trained("first", budget={"steps": 5}, checkpoint=kept, **changes)
            rest = self.trained("rest", budget={"steps": 5}, checkpoint={"resume": "kept"},
                                save_weights="rest.safetensors", **changes)  # fmt: skip
            self.assert_valid(first)
            self.assert_valid(rest)
            self.assertEqual(self.losses(first), self.losses(whole)[:5])
            self.assertEqual(self.losses(rest), self.losses(whole)[4:])
            hashes = [report["ranks"][0]["parameter_hash"] for report in (whole, rest)]
            self.assertEqual(hashes[0], hashes[1])
            averages = [safetensors_file.read(self.folder / f"{name}.safetensors")[0] for name in ("whole", "rest")]
            self.assertEqual(averages[0], averages[1])
            (told,) = first["training"]["checkpoints"]
            path = self.folder / "kept/checkpoint.safetensors"
            self.assertEqual((told["step"], told["file"], told["bytes"]), (4, str(path), path.stat().st_size))
            training = first["training"]
            self.assertAlmostEqual(training["training_time_s"], training["measured_s"] + told["time_s"], delta=0.5)
            self.assertEqual(rest["plan"]["first_step"], 4)
            self.assertEqual(rest["training"]["initial_weights"]["source"], str(path))
            _, metadata = safetensors_file.read(path)
            self.assertEqual((metadata["model"], metadata["step"]), ("mobilenet_v2", "4"))
            other = self.run_program("--config", self.write_spec(checkpoint={"resume": "kept"}, **{**changes, "seed": 4}))
            self.assertEqual(other.code, 2, other)
            self.assertIn("seed: the checkpoint is of 3, the run has 4", other.stderr)

    def test_a_weight_file_is_no_checkpoint(self):
        self.trained("saved", save_weights="w.safetensors", budget={"steps": 1})
        done = self.run_program("--config", self.write_spec(checkpoint={"resume": "w.safetensors"}))
        self.assertEqual(done.code, 2, done)
        self.assertIn("is no checkpoint to go on from", done.stderr)


if __name__ == "__main__":
    unittest.main()
