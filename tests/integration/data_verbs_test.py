"""falconbench data make and data check, and training on what is left of a damaged folder."""

import unittest

from runs import RunTest


class DataVerbsTest(RunTest):
    def damaged(self):
        """A set of 24 pictures, six of them damaged in different ways, and the names of those."""
        folder = self.make_pictures("set", "--train", "24", "--classes", "2", "--side", "80")
        pictures = sorted((folder / "train").rglob("*.jpg"))
        whole = pictures[0].read_bytes()
        pictures[0].write_bytes(b"")
        pictures[1].write_bytes(b"<html>not found</html>")
        pictures[2].write_bytes(whole[: len(whole) // 2])
        pictures[3].write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 100)
        pictures[4].write_bytes(whole[:20])
        pictures[5].unlink()
        pictures[5].symlink_to("nowhere.jpg")
        return [path.relative_to(folder).as_posix() for path in pictures[:6]]

    def test_a_made_folder_is_whole_and_is_not_made_again(self):
        options = ["--train", "20", "--val", "4", "--classes", "4", "--side", "64", "--quality", "80", "--seed", "3"]
        folder = self.make_pictures("set", *options)
        self.assertEqual(len(list((folder / "train").rglob("*.jpg"))), 20)
        self.assertEqual(len(list((folder / "val").rglob("*.jpg"))), 4)
        self.assertEqual(len(list((folder / "train").iterdir())), 4)
        checked = self.ok("data", "check", "imagefolder", "set")
        self.assertIn("24 usable files in 4 classes", checked.stdout)
        before = {path: path.read_bytes() for path in folder.rglob("*.jpg")}
        self.assertIn("already", self.ok("data", "make", "imagefolder", "set", *options).stdout)
        self.ok("data", "make", "imagefolder", "again", *options)
        for path, content in before.items():
            self.assertEqual((self.folder / "again" / path.relative_to(folder)).read_bytes(), content)

    def test_another_folder_is_refused(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine/thesis.txt").write_text("years of work")
        done = self.run_program("data", "make", "imagefolder", "mine", "--train", "8")
        self.assertEqual(done.code, 2, done)
        self.assertEqual([path.name for path in (self.folder / "mine").iterdir()], ["thesis.txt"])
        self.make_pictures("set", "--train", "8", "--classes", "2", "--side", "64")
        other = self.run_program("data", "make", "imagefolder", "set", "--train", "9", "--classes", "2")
        self.assertEqual(other.code, 2, other)
        for path in (self.folder / "set").rglob("*.jpg"):
            path.unlink()
            break
        changed = self.run_program("data", "make", "imagefolder", "set", "--train", "8", "--classes", "2", "--side=64")
        self.assertEqual(changed.code, 2, changed)
        self.assertIn("has changed", changed.stderr)

    def test_check_names_every_damaged_file(self):
        names = self.damaged()
        done = self.run_program("data", "check", "imagefolder", "set")
        self.assertEqual(done.code, 2, done)
        for name in names:
            self.assertIn(name, done.stdout)
        self.assertIn("18 usable files", done.stdout)
        self.assertIn("6 left out", done.stdout)

    def test_check_of_nothing(self):
        done = self.run_program("data", "check", "imagefolder", "nothing")
        self.assertEqual(done.code, 3, done)
        self.assertIn("nothing", done.stderr)

    def test_training_leaves_damaged_files_out_and_counts_them(self):
        names = self.damaged()
        report = self.trained("run", data={"format": "imagefolder", "path": "set"}, budget={"epochs": 2})
        self.assert_valid(report)
        told = report["training"]["input"]
        self.assertEqual((told["skipped_at_scan"], report["plan"]["data"]["samples"]), (4, 20))
        self.assertEqual(told["skipped"].pop("damaged"), told["skipped_samples"])
        self.assertEqual(sum(told["skipped"].values()), told["skipped_at_scan"])
        self.assertGreater(told["skipped_samples"], 0)  # their headers are sound: met when they are read
        items = {"train/" + item["item"] for item in told["skipped_items"]}
        self.assertEqual(items - set(names), set())
        self.assertEqual(set(names) - items - {names[2], names[4]}, set())
        finding = next(finding for finding in report["findings"] if finding["id"] == "data_skipped")
        self.assertIn("4 when scanning", finding["evidence"])


if __name__ == "__main__":
    unittest.main()
