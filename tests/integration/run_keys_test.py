"""No key without effect: those of run_keys.OTHERS. plan_keys_test holds that no key is left out."""

import json
import struct
import unittest

from runs import RunTest


def jpeg_facts(path):
    """Longer side, and the sum of the first quantisation table: the lower the quality, the larger."""
    content = path.read_bytes()
    side = table = None
    at = 2
    while at < len(content) and content[at] == 0xFF and content[at + 1] != 0xDA:
        marker, length = content[at + 1], struct.unpack(">H", content[at + 2 : at + 4])[0]
        if marker == 0xDB and table is None:
            table = sum(content[at + 5 : at + 69])
        if marker in (0xC0, 0xC2):
            side = max(struct.unpack(">HH", content[at + 5 : at + 9]))
        at += 2 + length
    return side, table


class RunKeysTest(RunTest):
    def test_made_pictures(self):
        seen = {}
        for name, options in (("plain", {"side": 100}), ("other", {"side": 200, "quality": 20, "val": 6})):
            make = {"train": 16, "classes": 2, **options}
            self.trained(name, data={"format": "imagefolder", "path": name, "make": make}, budget={"steps": 1})
            facts = [jpeg_facts(path) for path in (self.folder / name / "train").rglob("*.jpg")]
            seen[name] = [sum(column) / len(facts) for column in zip(*facts)]
            seen[name].append(len(list((self.folder / name).glob("val/*/*.jpg"))))
        self.assertGreater(seen["other"][0], 1.6 * seen["plain"][0])
        self.assertGreater(seen["other"][1], 3 * seen["plain"][1])
        self.assertEqual((seen["plain"][2], seen["other"][2]), (0, 6))

    def test_made_boxes_and_what_is_made_of_them(self):
        small = {"train": 8, "classes": 2, "side": 64}
        losses, counts = [], []
        for name, boxes, augment in (("few", 1, "mosaic"), ("many", 9, "mosaic"), ("many", 9, "none")):
            data = {"format": "coco", "path": name, "augment": augment, "make": {**small, "boxes": boxes}}
            report = self.trained("run", model="yolov5n", image_size=64, data=data, budget={"steps": 1},
                                  batch_size={"per_gpu": 4})  # fmt: skip
            losses.append(report["training"]["loss"]["first"])
            annotations = json.loads((self.folder / name / "annotations/instances_train.json").read_text())
            counts.append(len(annotations["annotations"]))
        self.assertGreater(counts[1], 3 * counts[0])
        self.assertNotEqual(losses[1], losses[2])

    def test_made_questions_and_their_vocabulary(self):
        losses = []
        for version in ("v1.1", "v2.0"):
            make = {"train": 16, "version": version}
            data = {"format": "squad", "path": version, "make": make}
            losses.append(self.answered("made", data))
            self.assertTrue((self.folder / version / f"train-{version}.json").exists())
        words = (self.folder / "v1.1/vocab.txt").read_text().splitlines()
        # the words change places, not the special tokens in front of them
        first = next(i for i, word in enumerate(words) if len(word) == 1 and word.isalnum())
        other = words[:first] + words[first:][::-1]
        (self.folder / "v1.1/other.txt").write_text("\n".join(other) + "\n")
        data = {"format": "squad", "path": "v1.1", "vocab": "other.txt"}
        self.assertNotEqual(self.answered("other", data), losses[0])

    def answered(self, name, data):
        """The first loss of a small transformer."""
        options = {"layers": 1, "hidden_size": 64, "heads": 1, "dropout": 0}
        report = self.trained(name, model="bert_base", image_size=None, sequence_length=64, model_options=options,
                              data={**data, "doc_stride": 16}, batch_size={"per_gpu": 4}, budget={"steps": 1})  # fmt: skip
        return report["training"]["loss"]["first"]

    def test_prefetched_batches_take_memory(self):
        peak = []
        for prefetch in (1, 64):
            data = {"format": "synthetic", "samples": 65536, "loader": {"prefetch": prefetch}}
            narrow = {"layers": 1, "hidden_size": 8, "heads": 1}
            report = self.trained("run", model="bert_base", model_options=narrow, image_size=None, data=data,
                                  sequence_length=128, batch_size={"per_gpu": 512}, budget={"seconds": 2})  # fmt: skip
            peak.append(report["ranks"][0]["peak_rss_bytes"])
        # 63 batches of 512 samples of 3 x 128 numbers of 8 bytes are 99 MB
        self.assertGreater(peak[1] - peak[0], 50e6)

    def test_buckets(self):
        calls = []
        for ddp in ({}, {"bucket_mb": 0.5}, {"bucket_mb": 100, "first_bucket_mb": 100}, {"first_bucket_mb": 100}):
            report = self.trained("run", devices=2, batch_size={"per_gpu": 4}, parallelism={"ddp": ddp})
            calls.append(report["training"]["communication"]["calls_per_step"])
        plain, small, one, _ = calls
        self.assertGreater(small, plain)
        self.assertEqual(one, 1)
        self.assertLess(calls[3], plain)

    def test_shards(self):
        reports = [
            self.trained("run", devices=2, batch_size={"per_gpu": 4}, parallelism={"sharded": sharded})
            for sharded in ({"stage": 1}, {}, {"stage": 3}, {"stage": 2, "unit_mb": 0.1})
        ]
        held = [report["ranks"][0]["memory"] for report in reports]
        self.assertEqual(held[1]["gradient_bytes"], held[0]["gradient_bytes"] / 2)  # stage 2 is the default
        self.assertEqual(held[2]["parameter_bytes"], held[1]["parameter_bytes"] / 2)
        calls = [report["training"]["communication"]["calls_per_step"] for report in reports]
        self.assertGreater(calls[3], calls[1])
        for report in reports:
            self.assertEqual(len({rank["parameter_hash"] for rank in report["ranks"]}), 1)

    def test_engine(self):
        plain = self.trained("plain")["ranks"][0]["choices"]
        other = self.trained("other", engine={"channels_last": False, "deterministic": True})["ranks"][0]["choices"]
        self.assertNotEqual(plain["memory_format"], other["memory_format"])
        self.assertNotEqual(plain["deterministic"], other["deterministic"])

    def test_what_ranks_exchange(self):
        seen = {}
        for name, engine in (("plain", {}), ("short", {"gradient_dtype": "bf16"}), ("none", {"allreduce": "off"})):
            seen[name] = self.trained(name, devices=2, batch_size={"per_gpu": 4}, engine=engine)
        moved = {name: report["training"]["communication"]["bytes_per_step"] for name, report in seen.items()}
        self.assertEqual((moved["short"], moved["none"]), (moved["plain"] / 2, 0))
        alike = {name: len({rank["parameter_hash"] for rank in report["ranks"]}) for name, report in seen.items()}
        self.assertEqual(alike, {"plain": 1, "short": 1, "none": 2})
        found = {name: {finding["id"] for finding in report["findings"]} for name, report in seen.items()}
        self.assertIn("exchange_off", found["none"])
        self.assertNotIn("parameters_differ", found["none"])
        self.assertNotIn("exchange_off", found["short"])

    def test_moving_average(self):
        for decay, kept in ((0, False), (0.99, True)):
            report = self.trained("run", optimizer={"lr": 0.01, "ema_decay": decay}, devices=2, batch_size={"per_gpu": 4})
            choices = [rank["choices"] for rank in report["ranks"]]
            self.assertEqual(["moving_average" in of_rank for of_rank in choices], [kept, False])

    def test_telemetry(self):
        seconds = {"seconds": 1.5}
        plain = self.trained("plain", budget=seconds)
        other = self.trained(
            "other", budget=seconds, telemetry={"interval_ms": 50, "samplers": ["cpu"], "series": False}
        )
        reads = [
            next(s["reads"] for s in r["utilization"]["sources"] if (s["sampler"], s["scope"]) == ("cpu", "host"))
            for r in (plain, other)
        ]
        self.assertGreater(reads[1], 2 * reads[0])
        self.assertIsNone(other["utilization"]["host"]["memory_used_bytes"])
        self.assertIsNotNone(plain["utilization"]["host"]["memory_used_bytes"])
        self.assertIn("host/cpu_pct", plain["series"])
        self.assertNotIn("host/cpu_pct", other["series"])

    def test_traced_steps(self):
        report = self.trained("run", devices=2, batch_size={"per_gpu": 4}, trace={"steps": 2})
        self.assertEqual(report["training"]["steps"], 4)
        trace = report["training"]["trace"]
        self.assertEqual((trace["steps"], trace["gpu_busy_pct"]), (2, None))
        events = json.loads((self.folder / "out/run.trace").read_text())["traceEvents"]
        slices = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(slices), trace["events"])
        steps = {rank: [e for e in slices if e["name"].startswith("step ") and e["pid"] == rank] for rank in (0, 1)}
        for rank in (0, 1):
            self.assertEqual(len(steps[rank]), 2)
        # the ranks' steps end together, as their gradients are exchanged
        ends = [steps[rank][1]["ts"] + steps[rank][1]["dur"] for rank in (0, 1)]
        self.assertLess(abs(ends[0] - ends[1]), steps[0][1]["dur"] + steps[1][1]["dur"])

    def test_names_and_places(self):
        spec = self.write_spec(name="A name", optimizer={"lr": 1e30})
        self.ok("--config", spec)
        self.assertEqual(len(list(self.folder.glob("reports/A name-*.json"))), 1)
        self.assertEqual(self.run_program("--config", spec, "--strict=true", "--output", "strict.json").code, 6)
        self.assertEqual(self.report("strict.json")["run"]["name"], "A name")
        late = self.run_program("--config", spec, "--timeout-s", "0.01", "--output", "late.json")
        self.assertEqual(late.code, 5, late)
        self.assertEqual(self.report("late.json")["error"]["kind"], "deadline")


if __name__ == "__main__":
    unittest.main()
