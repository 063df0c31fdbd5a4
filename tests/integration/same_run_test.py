"""The same spec trains the same samples to the same losses."""

import unittest

from runs import RunTest


class SameRunTest(RunTest):
    def losses(self, name, **changes):
        return self.trained(name, **changes)["training"]["loss"]["series"]

    def test_one_seed_one_loss_series(self):
        for name, data in (("made", {"format": "synthetic", "samples": 64}), ("read", self.pictures())):
            first = self.trained(f"{name}1", data=data, budget={"steps": 6})
            second = self.trained(f"{name}2", data=data, budget={"steps": 6})
            self.assertEqual(first["training"]["loss"]["series"], second["training"]["loss"]["series"])
            self.assertEqual(first["ranks"][0]["parameter_hash"], second["ranks"][0]["parameter_hash"])

    def pictures(self):
        if not (self.folder / "set").exists():
            self.make_pictures("set", "--train", "32", "--classes", "4", "--side", "64")
        return {"format": "imagefolder", "path": "set"}

    def test_more_threads_and_prefetch_read_the_same_batches(self):
        data = self.pictures()
        base = self.losses("base", data={**data, "loader": {"threads": 1, "prefetch": 1}})
        more = self.losses("more", data={**data, "loader": {"threads": 5, "prefetch": 7}})
        self.assertEqual(base, more)

    def test_warm_up_steps_are_real_steps_of_the_same_series(self):
        measured = self.losses("measured", budget={"steps": 5})
        warmed = self.losses("warmed", warmup_steps=3, budget={"steps": 2})
        self.assertEqual(measured, warmed)

    def test_the_ranks_share_the_samples_of_one_rank(self):
        """An epoch of damaged files: the same ones are met, whatever the number of ranks."""
        folder = self.make_pictures("set", "--train", "32", "--classes", "2", "--side", "64")
        for picture in sorted((folder / "train").rglob("*.jpg"))[::8]:
            whole = picture.read_bytes()
            picture.write_bytes(whole[: len(whole) // 2])  # its header is sound
        data = {"format": "imagefolder", "path": "set"}
        one = self.trained("one", data=data, budget={"epochs": 1}, batch_size={"global": 8})
        two = self.trained("two", data=data, budget={"epochs": 1}, batch_size={"global": 8}, devices=2)
        for key in ("samples", "steps", "global_batch_size"):
            self.assertEqual(one["training"][key], two["training"][key], key)
        seen = [
            sorted({item["item"] for item in report["training"]["input"]["skipped_items"]}) for report in (one, two)
        ]
        self.assertEqual(len(seen[0]), 4)
        self.assertEqual(seen[0], seen[1])
        self.assertIn("data_skipped", [finding["id"] for finding in one["findings"]])


if __name__ == "__main__":
    unittest.main()
