"""What the data lies on: page cache cold and warm, each way of reading, the probe, findings."""

import json
import os
import pathlib
import tempfile
import unittest

from runs import RunTest

PICTURES = 384


class StorageTest(RunTest):
    def setUp(self):
        super().setUp()
        self.make_pictures("set", "--train", str(PICTURES), "--classes", "2", "--side", "200")

    def pictures(self, **data):
        loader = {"prefetch": 1, **data.pop("loader", {})}
        return {"format": "imagefolder", "path": "set", "loader": loader, **data}

    def trained_on(self, name, **data):
        """By two ranks, each picture once."""
        return self.trained(name, devices=2, data=self.pictures(**data), budget={"steps": PICTURES // 16})

    def lies_in_memory(self):
        mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        best = max(
            (line for line in mounts if (str(self.folder) + "/").startswith(line.split()[4].rstrip("/") + "/")),
            key=lambda line: len(line.split()[4]),
        )
        return best.partition(" - ")[2].split()[0] in ("tmpfs", "ramfs")

    def test_cold_and_warm(self):
        if self.lies_in_memory():
            self.skipTest("the folder for temporary files lies in memory")
        cold = self.trained_on("cold", cache="cold")
        warm = self.trained_on("warm", cache="warm")
        self.assert_valid(cold)
        for report in (cold, warm):
            storage = report["storage"]
            cache = storage["cache"]
            self.assertEqual((cache["files"], cache["sampled_files"]), (PICTURES, PICTURES))
            self.assertGreater(cache["sampled_bytes"], 1000 * PICTURES)
            self.assertEqual(storage["io"], "buffered")
            self.assertGreater(storage["file_bytes"], 0)
        self.assertLess(cold["storage"]["cache"]["resident_begin_pct"], 5, cold["storage"])
        self.assertIn("posix_fadvise", cold["storage"]["cache"]["made_by"])
        self.assertGreater(cold["storage"]["cache"]["resident_end_pct"], 90)
        self.assertEqual(warm["storage"]["cache"]["resident_begin_pct"], 100, warm["storage"])
        ids = [finding["id"] for finding in warm["findings"] + cold["findings"]]
        self.assertNotIn("cache_not_as_asked", ids)
        fetched = [report["storage"]["from_storage_pct"] for report in (cold, warm)]
        if None not in fetched:
            self.assertGreater(fetched[0], 50, cold["storage"])
            self.assertLess(fetched[1], 10, warm["storage"])
            self.assertEqual(warm["storage"]["state"], "warm")

    def test_each_way_reads_the_same(self):
        losses = {}
        for io in ("buffered", "direct", "uring"):
            report = self.trained_on(io, loader={"io": io})
            storage = report["storage"]
            ids = [finding["id"] for finding in report["findings"]]
            if storage["io"] == io:
                self.assertNotIn("io_not_as_asked", ids)
                self.assertIsNone(storage["io_fallback"])
            else:
                self.assertEqual(storage["io"], "buffered")
                self.assertTrue(storage["io_fallback"])
                self.assertIn("io_not_as_asked", ids)
            losses[io] = report["training"]["loss"]["series"]
        self.assertEqual(losses["direct"], losses["buffered"])
        self.assertEqual(losses["uring"], losses["buffered"])

    def test_what_is_refused_is_told_and_makes_a_strict_run_invalid(self):
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("/dev/shm cannot be written")
        with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
            self.ok("data", "make", "imagefolder", f"{place}/set", "--train", "16", "--classes", "2", "--side", "64")
            data = {"format": "imagefolder", "path": f"{place}/set", "loader": {"io": "direct"}}
            spec = self.write_spec(data=data, budget={"steps": 1}, strict=True)
            done = self.run_program("--config", spec, "--output", "out.json")
        self.assertEqual(done.code, 6, done)
        report = self.report()
        self.assertEqual(report["storage"]["io"], "buffered")
        self.assertIn("memory", report["storage"]["io_fallback"])
        self.assertIn("memory", report["storage"]["data"]["disks_reason"])
        self.assertIn("io_not_as_asked", [finding["id"] for finding in report["findings"]])

    def test_probe(self):
        report = self.trained("on", data=self.pictures(), budget={"steps": 1})
        probe = report["storage"]["probe"]
        for trial in ("sequential", "random"):
            self.assertEqual(probe[trial]["ended_by"], "all files", probe)
            self.assertEqual(probe[trial]["files"], PICTURES)
            self.assertGreater(probe[trial]["bytes_per_s"], 0)
        report = self.trained("off", data=self.pictures(probe=False), budget={"steps": 1})
        self.assertIsNone(report["storage"]["probe"])
        self.assertEqual(report["storage"]["probe_reason"], "data.probe is off")

    def test_what_it_lies_on(self):
        (self.folder / "system.yaml").write_text(json.dumps({"storage": {"here": {"mount": str(self.folder)}}}))
        named = {"data": self.pictures(), "budget": {"steps": 1}, "system": "system.yaml"}
        report = self.trained("named", storage="here", **named)
        self.assert_valid(report)
        data = report["storage"]["data"]
        self.assertEqual(data["folder"], str(self.folder / "set"))
        self.assertTrue((str(self.folder) + "/").startswith(data["mount"].rstrip("/") + "/"), data)
        if data["disks"] is None:
            self.assertTrue(data["disks_reason"])
        else:
            self.assertEqual(data["layers"][-1].split()[0], data["disks"][-1]["name"])

    def test_a_storage_is_filled(self):
        (self.folder / "disk").mkdir()
        storage = {"disk_a": {"mount": str(self.folder / "disk")}}
        (self.folder / "system.yaml").write_text(json.dumps({"storage": storage}))
        made = ["data", "make", "imagefolder", "pictures/small", "--train", "4", "--classes", "2", "--side", "64"]
        on_disk = ["--storage", "disk_a", "--system", "system.yaml"]
        self.ok(*made, *on_disk)
        self.assertEqual(len(list((self.folder / "disk/pictures/small/train").rglob("*.jpg"))), 4)
        self.ok("data", "check", "imagefolder", "pictures/small", *on_disk)
        self.assertEqual(self.run_program(*made, "--storage", "disk_b", "--system", "system.yaml").code, 2)
        self.assertEqual(self.run_program(*made, "--system", "system.yaml").code, 2)
        made[3] = "../outside"
        self.assertEqual(self.run_program(*made, *on_disk).code, 2)


if __name__ == "__main__":
    unittest.main()
